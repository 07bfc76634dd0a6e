//! What a dashboard may show and do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;

use crate::Access;
use crate::redact::Payload;
use crate::stop::Stop;

/// Says what a request may do.
pub(crate) type Auth = Arc<dyn Fn(&HeaderMap) -> Access + Send + Sync>;
/// Changes a payload before it is shown.
pub(crate) type Redact = Arc<dyn Fn(&mut Payload<'_>) + Send + Sync>;
/// Metrics of the application, in the text format of Prometheus.
pub(crate) type Render = Arc<dyn Fn() -> String + Send + Sync>;

/// Proxies end connections that are quiet for long.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What a dashboard may show and do: by default, everything is shown and nothing can be done.
///
/// ```
/// use pgflow_web::{Options, basic};
///
/// let options = Options::new()
///     .actions(true)
///     .auth(basic("ann", "correct horse battery staple"))
///     .redact(|payload| {
///         if let Some(card) = payload.value.pointer_mut("/card/number") {
///             *card = "masked".into();
///         }
///     });
/// # drop(options);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Options {
    pub(crate) actions: bool,
    pub(crate) hooks: bool,
    pub(crate) signals: Signals,
    pub(crate) auth: Option<Auth>,
    pub(crate) redact: Option<Redact>,
    pub(crate) hosts: Vec<String>,
    pub(crate) metrics: Option<Render>,
    pub(crate) stop: Stop,
    pub(crate) keep_alive: Duration,
    pub(crate) is_secure: bool,
}

/// Which signals are taken besides those that `auth` allows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signals {
    /// For tokens that nobody can guess, whoever sends them.
    pub(crate) open: bool,
    /// For names, although nobody is asked who sends them.
    pub(crate) named: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            actions: false,
            hooks: false,
            signals: Signals::default(),
            auth: None,
            redact: None,
            hosts: Vec::new(),
            metrics: None,
            stop: Stop::default(),
            keep_alive: KEEP_ALIVE,
            is_secure: false,
        }
    }
}

impl Options {
    /// Everything is shown, nothing can be done.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether runs can be retried and cancelled. [`serve`](crate::serve) does not do that on an address that others
    /// can reach unless [`auth`](Self::auth) says who may.
    pub fn actions(self, actions: bool) -> Self {
        Self { actions, ..self }
    }

    /// Whether the [dashboard](crate::router) takes signals for steps that wait, at `POST /hooks/{token}`. [`api`](crate::api)
    /// does so in any case.
    pub fn hooks(self, hooks: bool) -> Self {
        Self { hooks, ..self }
    }

    /// Whether whoever has a token that nobody can guess may signal, whatever [`auth`](Self::auth) says: for services that call
    /// webhooks. Named tokens still need [`Access::Act`].
    pub fn open_hooks(self, open_hooks: bool) -> Self {
        Self { signals: Signals { open: open_hooks, ..self.signals }, ..self }
    }

    /// Whether names that steps chose may be signalled although no [`auth`](Self::auth) says who it is. Anybody could guess them, and
    /// what is sent to a name that nobody waits for is kept: only if the application sees to who gets here.
    pub fn named_hooks(self, named_hooks: bool) -> Self {
        Self { signals: Signals { named: named_hooks, ..self.signals }, ..self }
    }

    /// Asked with the headers of each request, but for `/healthz` and `/readyz`. [`basic`](crate::basic) is one that
    /// asks for a password. Whoever mounts the [`router`](crate::router) can put it behind a layer instead.
    pub fn auth(self, auth: impl Fn(&HeaderMap) -> Access + Send + Sync + 'static) -> Self {
        Self { auth: Some(Arc::new(auth)), ..self }
    }

    /// Gets every payload and error message before it is shown, and may change it.
    pub fn redact(self, redact: impl Fn(&mut Payload<'_>) + Send + Sync + 'static) -> Self {
        Self { redact: Some(Arc::new(redact)), ..self }
    }

    /// Shows no payload and no error message at all.
    pub fn hide_payloads(self) -> Self {
        self.redact(|payload| payload.value = "hidden".into())
    }

    /// One more name that [`serve`](crate::serve) answers to on loopback, such as that of a proxy before it. Without it,
    /// only `localhost` and loopback addresses are: a page elsewhere whose name was made to lead here could read
    /// everything otherwise (DNS rebinding).
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into());
        self
    }

    /// Adds to `/metrics` what this returns, in the text format of Prometheus: the metrics of the application's own
    /// recorder, and those of its workers with them.
    pub fn metrics(self, render: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self { metrics: Some(Arc::new(render)), ..self }
    }

    /// How long live streams are quiet before a comment keeps their connections alive: 15 seconds if nothing is said.
    pub fn keep_alive(self, keep_alive: Duration) -> Self {
        Self { keep_alive, ..self }
    }

    /// Whether browsers reach it encrypted only, such as behind a proxy that ends TLS: then they keep the cookie of forms to
    /// encrypted connections. Over any other they would not send it, and no form would be taken.
    pub fn secure(self, is_secure: bool) -> Self {
        Self { is_secure, ..self }
    }

    /// When live streams end, for applications that mount the [`router`](crate::router): a server that shuts down
    /// gracefully waits for all its connections. Needs a tokio runtime. [`serve`](crate::serve) does this by itself.
    pub fn until(self, shutdown: impl Future<Output = ()> + Send + 'static) -> Self {
        self.stop.when(shutdown);
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("actions", &self.actions)
            .field("hooks", &self.hooks)
            .field("auth", &self.auth.is_some())
            .field("redact", &self.redact.is_some())
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}
