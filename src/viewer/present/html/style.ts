export const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--quiet:#59636e;--paper:#fff;--box:#f6f8fa;--line:#d1d9e0;--trained:#0969da;--unknown:#8250df;--error:#cf222e;--warn:#9a6700;--good:#1a7f37;--hit:#fff3b0;--now:#ffb454;--key:#0550ae;--string:#116329;--number:#8250df}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--quiet:#9198a1;--paper:#0d1117;--box:#151b23;--line:#3d444d;--trained:#4493f8;--unknown:#ab7df8;--error:#f85149;--warn:#d29922;--good:#3fb950;--hit:#5a4a00;--now:#b06000;--key:#79c0ff;--string:#7ee787;--number:#d2a8ff}}
:root[data-theme=light]{color-scheme:light;--ink:#1b1f24;--quiet:#59636e;--paper:#fff;--box:#f6f8fa;--line:#d1d9e0;--trained:#0969da;--unknown:#8250df;--error:#cf222e;--warn:#9a6700;--good:#1a7f37;--hit:#fff3b0;--now:#ffb454;--key:#0550ae;--string:#116329;--number:#8250df}
:root[data-theme=dark]{color-scheme:dark;--ink:#e6edf3;--quiet:#9198a1;--paper:#0d1117;--box:#151b23;--line:#3d444d;--trained:#4493f8;--unknown:#ab7df8;--error:#f85149;--warn:#d29922;--good:#3fb950;--hit:#5a4a00;--now:#b06000;--key:#79c0ff;--string:#7ee787;--number:#d2a8ff}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif;display:flex;flex-direction:column;overflow-wrap:anywhere}
body>*{width:100%;max-width:62rem;margin:0 auto;padding:0 1rem}
header{position:sticky;top:0;z-index:1;background:var(--paper);border-bottom:1px solid var(--line);max-width:none;padding:.5rem 1rem;order:-2;display:flex;gap:.75rem;align-items:center;flex-wrap:wrap}
header h1{font-size:1rem;margin:0;flex:1 1 12rem;min-width:0}
input,button{font:inherit;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.15rem .5rem}
input{width:16rem;max-width:100%}
nav{order:-1;padding-top:1rem;overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem}
th,td{text-align:left;padding:.1rem .75rem .1rem 0;vertical-align:top}
th{font-weight:400;color:var(--quiet)}
th.n,td.n{text-align:right;font-variant-numeric:tabular-nums}
th,td:not(:last-child){white-space:nowrap}
a{color:inherit}
#report,#runs{overflow-x:auto}
article{border-top:1px solid var(--line);margin-top:1.5rem;padding-top:.75rem;scroll-margin-top:4rem}
h2{font-size:1.1rem;margin:0 0 .5rem}
h2 .score{float:right}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:0 1rem;margin:0 0 .75rem;font-size:.9rem}
.facts dt{color:var(--quiet)}
.facts dd{margin:0;white-space:pre-wrap}
ul.findings{margin:0 0 .75rem;padding-left:1.2rem;font-size:.9rem}
li.error{color:var(--error)}li.warning{color:var(--warn)}
.turn{border-left:4px solid var(--line);padding:.1rem 0 .5rem .75rem;margin:.5rem 0;scroll-margin-top:4rem;content-visibility:auto;contain-intrinsic-size:auto 8rem}
.turn.trained{border-left-color:var(--trained)}
.turn.unknown{border-left:4px dashed var(--unknown)}
.turn.here{background:var(--box)}
h3{font-size:.9rem;margin:.2rem 0;display:flex;gap:.75rem}
h3 .mask,h3 .at{color:var(--quiet);font-weight:400}
h3 .reward{margin-left:auto}
pre{margin:.25rem 0;white-space:pre-wrap;font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,monospace}
.prose{font:inherit}
.call,.result{background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.25rem .6rem;margin:.35rem 0}
.call b{font-size:.85rem}
.call i{font-size:.85rem;color:var(--quiet)}
.broken{border-color:var(--error)}
#tree .branch{border-left:1px solid var(--line);padding-left:.75rem;margin:.3rem 0 .3rem .25rem}
.key{color:var(--key)}.string{color:var(--string)}.number{color:var(--number)}.quiet{color:var(--quiet)}
summary{cursor:pointer;color:var(--quiet);font-size:.9rem}
del{background:color-mix(in srgb,var(--error) 22%,transparent);text-decoration:none}
ins{background:color-mix(in srgb,var(--good) 22%,transparent);text-decoration:none}
.sides{display:grid;grid-template-columns:1fr 1fr;gap:0 1rem}
.sides>*{min-width:0}
.good{color:var(--good)}.bad{color:var(--error)}
body.trained-only .turn:not(.trained){display:none}
footer{color:var(--quiet);font-size:.85rem;padding:2rem 1rem}
kbd{border:1px solid var(--line);border-radius:4px;padding:0 .3rem;font:12px ui-monospace,monospace}
::highlight(hit){background:var(--hit)}
::highlight(now){background:var(--now)}
@media (max-width:40rem){
table{font-size:.8rem}
td,td:not(:last-child){white-space:normal;padding-right:.4rem;overflow-wrap:normal}
td:first-child{white-space:nowrap}
#runs td:last-child{min-width:14rem}
th,td.n:not(:last-child){white-space:nowrap}
.sides{grid-template-columns:minmax(0,1fr)}
h3{flex-wrap:wrap;gap:0 .75rem}
}
@media print{header{position:static}input,button{display:none}}
`;
