// Tabs of code, which Markdown does not have: GitHub shows the first of them, or all below each other.

/** The equivalents of `npm install` and `npx`. */
const MANAGERS = {
  npm: ["npm install", "npx"],
  pnpm: ["pnpm add", "pnpm exec"],
  yarn: ["yarn add", "yarn"],
  bun: ["bun add", "bunx"],
};
const INSTALL = /^```sh\n((?:npm install [^\n-]+\n)(?:npx .*\n)*)```$/gm;
/** Programs after a comment, each with its title in the first line. */
const PROGRAMS = /^<!-- tabs -->\n((?:\n?```\w+\n(?:\/\/|#|--) .*\n[\s\S]*?^```\n)+)/gm;
const PROGRAM = /```(\w+)\n\S+ (.*)\n([\s\S]*?)^```$/gm;

const group = (blocks) =>
  `::: code-group\n\n${blocks.map(([language, title, code]) => `\`\`\`${language} [${title}]\n${code}\`\`\`\n`).join("\n")}\n:::\n`;

const ofManagers = (commands) =>
  Object.entries(MANAGERS).map(([title, [add, run]]) => [
    "sh",
    title,
    commands.replaceAll(/^npm install/gm, add).replaceAll(/^npx/gm, run),
  ]);

/** A page with its tabs. */
export const withCodeGroups = (text) =>
  text
    .replaceAll(INSTALL, (_, commands) => group(ofManagers(commands)))
    .replaceAll(PROGRAMS, (_, programs) => group([...programs.matchAll(PROGRAM)].map(([, ...program]) => program)));
