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
import { ConfigError } from "frazil";
import { type Loaded, registerCarriers } from "./binding/carriers.js";

/**
 * Loads a package by its name. Each call of `require` has its package as a literal, because bundlers follow no other, and stands in a
 * `try` of its own, so that a bundler lets the packages pass that are not installed.
 */
function load(name: string): Loaded | undefined {
  switch (name) {
    case "frazil-linux-x64-gnu":
      try {
        return { addon: require("frazil-linux-x64-gnu") };
      } catch (error) {
        return { error };
      }
    case "frazil-linux-x64-musl":
      try {
        return { addon: require("frazil-linux-x64-musl") };
      } catch (error) {
        return { error };
      }
    case "frazil-linux-arm64-gnu":
      try {
        return { addon: require("frazil-linux-arm64-gnu") };
      } catch (error) {
        return { error };
      }
    case "frazil-linux-arm64-musl":
      try {
        return { addon: require("frazil-linux-arm64-musl") };
      } catch (error) {
        return { error };
      }
    case "frazil-darwin-x64":
      try {
        return { addon: require("frazil-darwin-x64") };
      } catch (error) {
        return { error };
      }
    case "frazil-darwin-arm64":
      try {
        return { addon: require("frazil-darwin-arm64") };
      } catch (error) {
        return { error };
      }
    case "frazil-win32-x64":
      try {
        return { addon: require("frazil-win32-x64") };
      } catch (error) {
        return { error };
      }
    case "frazil-win32-arm64":
      try {
        return { addon: require("frazil-win32-arm64") };
      } catch (error) {
        return { error };
      }
    default:
      return undefined;
  }
}

if (!registerCarriers(load))
  throw new ConfigError(
    "NATIVE_REQUIRED",
    "frazil/native was imported after the first generator was made, which runs on WebAssembly because no native addon was found: import frazil/native before that, best in the first line of the program",
  );
