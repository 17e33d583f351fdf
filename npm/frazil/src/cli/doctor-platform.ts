/** The report of `npx frazil doctor` on the machine, and on the backend and the reason for it. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Snowflake } from "frazil";
import { firstLine, remedyOf } from "../core/no-addon.js";
import { type Refusal, refusalOf } from "./refusal.js";

export interface Platform {
  readonly node: string;
  /** The version of Node-API. */
  readonly nodeApi: string;
  readonly system: string;
  /** On Linux, the C library. */
  readonly libc?: string;
}

export interface BackendReport {
  readonly name?: "native" | "wasm";
  readonly why?: string;
  /** The package of the addon that is loaded, and its version. */
  readonly addon?: string;
  /** Why no addon is loaded, and what to do. */
  readonly causes: readonly string[];
  readonly remedy?: string;
  readonly refusal?: Refusal;
}

/** The part of a diagnostic report of Node that is read here. */
interface DiagnosticReport {
  readonly header: { readonly glibcVersionRuntime?: string };
  readonly sharedObjects: readonly string[];
}

const diagnosticReport = () => process.report.getReport() as unknown as DiagnosticReport;

export function platformHere(): Platform {
  const { platform, arch, version, versions } = process;
  const here = { node: version, nodeApi: versions["napi"] ?? "none", system: `${platform}-${arch}` };
  if (platform !== "linux") return here;
  const glibc = diagnosticReport().header.glibcVersionRuntime;
  return { ...here, libc: glibc === undefined ? "musl" : `glibc ${glibc}` };
}

/** The package of the addon that this process has loaded, as its `package.json` names it. */
function loadedAddon(): string | undefined {
  const path = diagnosticReport().sharedObjects.find((object) => /frazil[^/\\]*\.node$/.test(object));
  if (path === undefined) return undefined;
  try {
    const { name, version } = JSON.parse(readFileSync(join(dirname(path), "package.json"), "utf8"));
    return `${name} ${version}`;
  } catch {
    return path; // a bundler has put it somewhere else
  }
}

export function backendHere(): BackendReport {
  let report: BackendReport = { causes: [] };
  const refusal = refusalOf(() => {
    const { backend: name, causes } = Snowflake.port().binding;
    const addon = name === "native" ? loadedAddon() : undefined;
    const forced = process.env["FRAZIL_BACKEND"];
    const why = forced
      ? `FRAZIL_BACKEND is ${forced}`
      : causes.length > 0 && name === "wasm"
        ? "no addon loads"
        : undefined;
    report = {
      name,
      ...(why && { why }),
      ...(addon && { addon }),
      causes: name === "wasm" ? causes.map(firstLine) : [],
      ...(name === "wasm" && causes.length > 0 && { remedy: remedyOf(causes) }),
    };
  });
  return refusal ? { ...report, refusal } : report;
}
