import type { Layout } from "../../../layout/index.js";
export declare function layoutText({ epochMs, tickMs, unsigned, fields }: Layout<string>): string;
