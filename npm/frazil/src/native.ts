/**
 * The entry `frazil/native`, imported for its effect, before the first generator is made: it registers the packages that carry the native
 * addon, by `require` calls that tools can follow. It is for tools that copy what a program needs (file tracing of Next and Nitro,
 * `bun build --compile`) and for bundlers that copy `.node` files. Only the carrier of the running platform is loaded, and only where
 * frazil needs it. On runtimes without addons the entry is empty.
 *
 * ```js
 * import "frazil/native";
 * import { Snowflake } from "frazil";
 * ```
 */
import { ConfigError, Snowflake } from "frazil";
import { type Carriers, registerCarriers } from "./binding/carriers.js";

/** Each in a `try` block of its own: then tools leave out what is not installed. */
const carriers: Carriers = {
  "frazil-linux-x64-gnu": () => {
    try {
      return { addon: require("frazil-linux-x64-gnu") };
    } catch (error) {
      return { error };
    }
  },
  "frazil-linux-arm64-gnu": () => {
    try {
      return { addon: require("frazil-linux-arm64-gnu") };
    } catch (error) {
      return { error };
    }
  },
  "frazil-linux-x64-musl": () => {
    try {
      return { addon: require("frazil-linux-x64-musl") };
    } catch (error) {
      return { error };
    }
  },
  "frazil-linux-arm64-musl": () => {
    try {
      return { addon: require("frazil-linux-arm64-musl") };
    } catch (error) {
      return { error };
    }
  },
  "frazil-darwin-x64": () => {
    try {
      return { addon: require("frazil-darwin-x64") };
    } catch (error) {
      return { error };
    }
  },
  "frazil-darwin-arm64": () => {
    try {
      return { addon: require("frazil-darwin-arm64") };
    } catch (error) {
      return { error };
    }
  },
  "frazil-win32-x64": () => {
    try {
      return { addon: require("frazil-win32-x64") };
    } catch (error) {
      return { error };
    }
  },
  "frazil-win32-arm64": () => {
    try {
      return { addon: require("frazil-win32-arm64") };
    } catch (error) {
      return { error };
    }
  },
};

registerCarriers(carriers);

/** The core of this realm, if a generator was made before: see `port.ts`. */
const isLoaded = Symbol.for("frazil") in globalThis;
if (isLoaded && Snowflake.port().binding.causes.length > 0)
  throw new ConfigError(
    "NATIVE_REQUIRED",
    "frazil/native was imported after the first generator had been made, on WebAssembly: import it first",
  );
