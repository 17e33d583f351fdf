/**
 * The packages of the native addon, for tools that put a program into one file or one folder and follow only what is written as
 * `require("…")`. Import it before the first generator is made:
 *
 * ```js
 * import "frazil/native";
 * import { Snowflake } from "frazil";
 * ```
 *
 * - **The addon is loaded when `frazil` needs it**, and only that of the running platform: the import runs no native code.
 * - **It is no second `frazil`**: it has no generators, and exports nothing.
 * - **On runtimes without addons it does nothing**: browsers, Workers, edge runtimes, React Native, and Deno, where `import` chooses
 *   WebAssembly.
 *
 * @throws {ConfigError} `NATIVE_REQUIRED` if a generator runs on WebAssembly already, because no addon was found.
 */
import { refusal } from "./addons.js";

if (refusal !== undefined) throw refusal;
