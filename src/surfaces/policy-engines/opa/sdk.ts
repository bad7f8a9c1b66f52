/**
 * Loads the optional package that runs compiled Rego on first use. It loads synchronously, because
 * policies are read where they are written.
 */
import { packageFault, requirePackage } from '../../../values/packages/missing-package.ts';

/** A compiled module, which is opaque here. */
export type WasmModule = object & { readonly wasmModule?: never };

/** The part of `WebAssembly` that is used. The types of Node do not have it. */
interface WasmNamespace {
  readonly Module: {
    new (bytes: Uint8Array | ArrayBuffer): WasmModule;
    exports(module: WasmModule): readonly { readonly name: string }[];
  };
  readonly LinkError: new () => Error;
}

export const webAssembly = (globalThis as unknown as { readonly WebAssembly: WasmNamespace })
  .WebAssembly;

/** Memory of a module, in pages of 64 KB. */
export interface WasmMemory {
  initial: number;
  maximum: number;
}

/** A policy that the package has loaded. It often throws values that are not Errors. */
export interface LoadedPolicy {
  /** The number of each entry point. */
  readonly entrypoints: Readonly<Record<string, number>>;
  /** The set of results. */
  evaluate(input: object, entrypoint: string): unknown;
  setData(data: object): void;
}

/** The part of the package that is used. */
export interface OpaSdk {
  loadPolicySync(module: WasmModule, memory: WasmMemory): LoadedPolicy;
}

/**
 * Loads the package.
 * @throws MisuseError `missing_dependency` if it is not installed.
 * @param load Loads a module of the package.
 */
export function loadSdk(load: (specifier: string) => unknown = requirePackage): OpaSdk {
  try {
    const sdk = load('@open-policy-agent/opa-wasm');
    return sdk as typeof import('@open-policy-agent/opa-wasm') as unknown as OpaSdk;
  } catch (error) {
    throw packageFault('@open-policy-agent/opa-wasm', 'runs compiled Rego policies', error);
  }
}
