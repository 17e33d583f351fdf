/** The style of the decoder, in the colours of the theme around it. */
export const STYLE = `
:host { display: block; color: var(--vp-c-text-1); }
* { box-sizing: border-box; }
label { display: block; font-weight: 600; }
textarea, input, select, button {
  font: inherit; color: inherit; background: var(--vp-c-bg-alt); border: 1px solid var(--vp-c-text-3); border-radius: 6px; padding: 6px 10px;
}
textarea { display: block; width: 100%; margin-top: 6px; font-family: var(--vp-font-family-mono); font-size: 14px; resize: vertical; }
:focus-visible { outline: 2px solid var(--vp-c-brand-1); outline-offset: 2px; }
button { cursor: pointer; }
.examples { display: flex; flex-wrap: wrap; gap: 8px; margin: 10px 0; align-items: center; }
.examples button { font-size: 14px; padding: 2px 10px; }
.small { font-size: 14px; color: var(--vp-c-text-2); margin: 8px 0; }
details { margin: 10px 0; }
summary { cursor: pointer; padding: 4px 0; }
.own { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; align-items: end; }
.own .wide { grid-column: 1 / -1; }
.own input { width: 100%; }
.own label { font-size: 14px; }
.error { color: var(--vp-c-danger-1); font-size: 14px; margin: 8px 0; }
article { border: 1px solid var(--vp-c-divider); border-radius: 8px; padding: 12px 16px 8px; margin: 14px 0; }
h3 { font-family: var(--vp-font-family-mono); font-size: 16px; margin: 0; overflow-wrap: anywhere; }
p { margin: 8px 0; }
.verdict .why { color: var(--vp-c-text-2); }
.warnings { margin: 8px 0; padding: 8px 12px 8px 30px; background: var(--vp-c-warning-soft); border-radius: 6px; }
.warnings[hidden] { display: none; }
.bits { display: flex; flex-wrap: wrap; gap: 2px; margin: 12px 0; font-family: var(--vp-font-family-mono); font-size: 12px; line-height: 1.5; }
.field { display: block; border-radius: 4px; padding: 3px 4px; max-width: 100%; }
.field b { display: block; font-weight: 400; overflow-wrap: anywhere; }
.field i { display: block; font-style: normal; font-family: var(--vp-font-family-base); }
.time { background: rgba(56, 125, 235, 0.25); }
.node { background: rgba(235, 150, 20, 0.28); }
.node-2 { background: rgba(215, 85, 120, 0.25); }
.clock { background: rgba(150, 90, 220, 0.25); }
.sequence { background: rgba(20, 165, 110, 0.25); }
.unused { background: rgba(128, 128, 128, 0.2); }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 270px), 1fr)); gap: 4px 24px; font-size: 14px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 0; align-content: start; }
dt { color: var(--vp-c-text-2); }
dd { margin: 0; overflow-wrap: anywhere; }
.mark { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; border: 1px solid var(--vp-c-text-3); }
.choice label { display: inline; }
table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; padding: 2px 16px 2px 0; }
`;
