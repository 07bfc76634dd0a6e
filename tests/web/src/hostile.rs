//! Texts that want to be more than texts.

/// What each of them tries, if it is not escaped: to set `window.pwned`, to open a dialog, to load something, or to be
/// read as something else.
pub const TEXTS: &[&str] = &[
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    "\"><script>window.pwned=3</script>",
    "'><img src=x onerror=window.pwned=4>",
    "<img src=x onerror=\"window.pwned=5\">",
    "<svg onload=window.pwned=6>",
    "<svg><script>window.pwned=7</script></svg>",
    "<iframe srcdoc=\"<script>parent.pwned=8</script>\"></iframe>",
    "<a href=\"javascript:window.pwned=9\" autofocus onfocus=window.pwned=9>x</a>",
    "<details open ontoggle=window.pwned=10>",
    "</pre></code><style>*{display:none}</style>",
    "</title><script>window.pwned=11</script>",
    "<!--><script>window.pwned=12</script>-->",
    "<![CDATA[<script>window.pwned=13</script>]]>",
    "<meta http-equiv=refresh content=\"0;url=javascript:window.pwned=14\">",
    "<base href=http://127.0.0.1:9/>",
    "<form action=/steal><button>Retry</button></form>",
    "&lt;script&gt;window.pwned=15&lt;/script&gt;",
    "&#60;script&#62;window.pwned=16&#60;/script&#62;",
    "javascript:window.pwned=17//",
    "{{constructor.constructor('window.pwned=18')()}}",
    "${window.pwned=19}",
    "data: x\n\nevent: region\ndata: <script>window.pwned=20</script>\n\n",
    "<template><script>window.pwned=21</script></template><noscript><img src=x onerror=window.pwned=22></noscript>",
    "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{1b}[2J",
    "\u{9b}31m c1 \u{7f}\u{8}\u{8}",
    "user\u{202e}nimda \u{2066}isolate\u{2069} \u{200b}zero\u{feff}",
    "line\u{2028}separator\u{2029}paragraph\r\ncarriage",
    "ｆｕｌｌwidth ＜script＞window.pwned=23＜/script＞",
    "\u{fffd}\u{fffe} 𝕳 👩‍🔬 عربي",
];

/// A part of each that has to be on a page as it is, for a reader to see: what is left if it is a text.
pub fn visible_part(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars()
        .take_while(|c| !c.is_control() && !is_format(*c))
        .collect::<String>()
        .trim_end()
        .to_owned()
}

fn is_format(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffe}')
}
