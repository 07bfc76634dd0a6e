// Adds to pages that are whole without it: live regions, times that count, steps that open beside the graph.
"use strict";
{
  const parsed = (html) => new DOMParser().parseFromString(html, "text/html");

  // Times, as how long ago they are. The server writes them in UTC, since it does not know who looks.
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const distance = (seconds) => {
    const at = units.findIndex(([length]) => seconds >= length);
    if (at < 0) return "0 s";
    const [length, unit] = units[at];
    const [less, smaller] = units[at + 1] ?? [0, ""];
    const rest = less ? Math.floor((seconds % length) / less) : 0;
    return `${Math.floor(seconds / length)} ${unit}` + (rest ? ` ${rest} ${smaller}` : "");
  };
  const count = () => {
    for (const time of document.querySelectorAll("time[datetime]")) {
      const seconds = Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000);
      const text = time.classList.contains("since") ? distance(Math.max(seconds, 0))
        : seconds < 0 ? `in ${distance(-seconds)}` : `${distance(seconds)} ago`;
      if (time.textContent !== text) time.textContent = text;
    }
  };
  count();
  setInterval(count, 1000);

  // Makes `old` like `fresh` and leaves alone what is the same, so that focus, scrolling and transitions stay.
  const morph = (old, fresh) => {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) return old.replaceWith(fresh);
    if (old.nodeType === Node.TEXT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
    before.slice(after.length).forEach((node) => node.remove());
    after.forEach((node, at) => (at < before.length ? morph(before[at], node) : old.append(node)));
  };

  // The step that is open beside the graph.
  const detail = document.getElementById("detail");
  const chosen = () => new URLSearchParams(location.search).get("step");
  const mark = () => {
    for (const node of document.querySelectorAll(".node")) node.classList.toggle("chosen", node.dataset.step === chosen());
  };
  let asked = 0;
  const open = async (href) => {
    const number = ++asked;
    const answer = await fetch(href);
    const fresh = parsed(await answer.text()).getElementById("detail");
    if (number !== asked || !fresh) return;
    morph(detail, fresh);
    count();
  };
  // What the open detail is about, as far as the region says it: when it changes, so has the detail.
  const state = () => {
    const node = [...document.querySelectorAll(".node")].find((node) => node.dataset.step === chosen());
    return node ? node.getAttribute("class").replace(" chosen", "") + node.textContent
      : document.querySelector("[data-status]")?.dataset.status;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-step], a[data-detail]");
    if (!detail || !link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    history.pushState(null, "", link.getAttribute("href"));
    mark();
    open(location.href);
    if (link.dataset.step && matchMedia("(max-width: 999px)").matches) detail.scrollIntoView({ behavior: "smooth" });
  });
  addEventListener("popstate", () => { mark(); if (detail) open(location.href); });
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea")) return;
    const nodes = [...document.querySelectorAll(".node")];
    const move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (event.key === "/") document.querySelector(".find input").focus();
    else if (move && nodes.includes(document.activeElement)) nodes[(nodes.indexOf(document.activeElement) + move + nodes.length) % nodes.length].focus();
    else if (event.key === "Escape" && detail && chosen()) detail.querySelector("a[data-detail]")?.click();
    else return;
    event.preventDefault();
  });

  // Regions that the server sends again when they change. A page that nobody sees gives up its connection: a browser has six for
  // a server, and the seventh page would wait for one.
  const listen = (region) => {
    const address = new URL(region.dataset.live, location.href);
    let source, again, hasEnded = false;
    const close = () => {
      clearTimeout(again);
      source?.close();
      source = undefined;
    };
    const connect = () => {
      close();
      if (!document.hidden && !hasEnded) listenTo((source = new EventSource(address)));
    };
    const listenTo = (current) => {
      current.addEventListener("open", () => document.body.classList.remove("is-lost"));
      current.addEventListener("error", () => {
        document.body.classList.add("is-lost");
        // Browsers connect again by themselves, but not after an answer that says no: a database may be gone for a while.
        if (current.readyState === EventSource.CLOSED) again = setTimeout(connect, 3000);
      });
      current.addEventListener("end", () => {
        close();
        hasEnded = true;
      });
      current.addEventListener("region", ({ data, lastEventId }) => {
        // What the next connection need not send.
        address.searchParams.set("seen", lastEventId);
        const before = state();
        morph(region.firstElementChild, parsed(data).body.firstElementChild);
        mark();
        count();
        if (detail && before !== state()) open(location.href);
      });
    };
    document.addEventListener("visibilitychange", connect);
    addEventListener("pagehide", close);
    addEventListener("pageshow", ({ persisted }) => { if (persisted) connect(); });
    connect();
  };
  document.querySelectorAll("[data-live]").forEach(listen);
  mark();
}
