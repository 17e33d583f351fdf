/** The packages of the native addon, by literal calls of `require`, for `frazil/native`. CommonJS, since an ES module has no `require`. */
import { ConfigError } from "frazil";
import { type Loaded, registerAddons } from "../core/binding/addons.js";

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

/**
 * The error of `frazil/native` where it came too late. It is thrown by the importing file, and not by this one: where an ES module
 * imports CommonJS that throws, Node 20 ends the process, even if the error of `import()` is handled.
 */
export const refusal = registerAddons(load)
  ? undefined
  : new ConfigError(
      "NATIVE_REQUIRED",
      "frazil/native was imported after the first generator was made, which runs on WebAssembly\nImport frazil/native before that, best in the first line of the program.",
    );
