/** Runs a policy that OPA has compiled to WebAssembly. */

import { MisuseError } from '../../../core.ts';
import { messageOf } from '../../../values/errors/index.ts';
import { copyJson, type JsonObject } from '../../../values/json/index.ts';
import { suggestion } from '../../../values/options/index.ts';
import type { PolicyDocument } from '../policy-document.ts';
import {
  type LoadedPolicy,
  loadSdk,
  type OpaSdk,
  type WasmMemory,
  type WasmModule,
  webAssembly,
} from './sdk.ts';
import { opaFault } from './server.ts';

/** Pages of 64 KB: how many the package gives to a policy, and the most that a policy may use. */
const firstPages = 5;
const maxPages = 4_096;

/**
 * Loads a policy.
 * @returns a function that evaluates a document; its result is undefined if the policy has none. It
 * throws a PolicyFault if the policy fails.
 * @throws MisuseError `invalid_option` if it is no policy, or has no such entry point.
 */
export function loadCompiled(
  wasm: Uint8Array | ArrayBuffer,
  entrypoint: string | undefined,
  data: unknown,
): (document: PolicyDocument) => unknown {
  const sdk = loadSdk();
  const module = compile(wasm);
  const copy = readData(data);
  let loaded: LoadedPolicy | undefined = load(sdk, module, copy);
  const name = chosen(Object.keys(loaded.entrypoints), entrypoint);
  return (document) => {
    try {
      loaded ??= load(sdk, module, copy);
      return resultOf(loaded.evaluate(document, name));
    } catch (error) {
      // An aborted evaluation leaves its stack behind, on which no later one may build.
      loaded = undefined;
      throw opaFault(`the policy failed: ${messageOf(error)}`, error);
    }
  };
}

function compile(wasm: Uint8Array | ArrayBuffer): WasmModule {
  const [first, second] = new Uint8Array(wasm as ArrayBuffer);
  if (first === 0x1f && second === 0x8b)
    throw misuse('expected `wasm` to be WebAssembly, got a bundle; extract its `policy.wasm`');
  try {
    const module = new webAssembly.Module(wasm);
    // Without it, the package only warns on the console.
    if (webAssembly.Module.exports(module).some((one) => one.name === 'opa_wasm_abi_version'))
      return module;
  } catch (error) {
    throw misuse(`expected \`wasm\` to be WebAssembly: ${messageOf(error)}`, error);
  }
  throw misuse('expected `wasm` to be a policy that `opa build -t wasm` has compiled');
}

function load(sdk: OpaSdk, module: WasmModule, data: JsonObject | undefined): LoadedPolicy {
  try {
    const policy = instantiate(sdk, module);
    if (data !== undefined) policy.setData(data);
    return policy;
  } catch (error) {
    throw misuse(`the policy cannot be loaded: ${messageOf(error)}`, error);
  }
}

/** A policy with much data needs more memory, and does not say how much. */
function instantiate(sdk: OpaSdk, module: WasmModule): LoadedPolicy {
  for (let initial = firstPages; ; initial *= 2) {
    const memory = Object.assign(Object.create(null) as WasmMemory, {
      initial,
      maximum: maxPages,
    });
    try {
      return sdk.loadPolicySync(module, memory);
    } catch (error) {
      if (!(error instanceof webAssembly.LinkError) || initial * 2 > maxPages) throw error;
    }
  }
}

function chosen(known: readonly string[], entrypoint: string | undefined): string {
  const [only, another] = known;
  if (entrypoint === undefined) {
    if (only !== undefined && another === undefined) return only;
    throw misuse(
      `the policy has several entry points; choose one by \`entrypoint\`: ${quoted(known)}`,
    );
  }
  if (!known.includes(entrypoint))
    throw misuse(
      `unknown entry point \`${entrypoint.slice(0, 60)}\`${suggestion(entrypoint, known)}`,
    );
  return entrypoint;
}

function readData(data: unknown): JsonObject | undefined {
  if (data === undefined) return undefined;
  const copy = copyJson(data, { maxDepth: 64, maxValues: 10_000_000 });
  if (!copy.ok) throw misuse(`expected \`data\` to be JSON, got ${copy.message} at ${copy.path}`);
  return copy.value as JsonObject;
}

/** The result in a set of one; undefined for an empty set. */
function resultOf(set: unknown): unknown {
  if (!Array.isArray(set) || set.length > 1) throw new Error('it answered no set of one result');
  if (set.length === 0) return undefined;
  const [one] = set as readonly unknown[];
  if (typeof one !== 'object' || one === null || !Object.hasOwn(one, 'result'))
    throw new Error('its set of results has no `result`');
  return (one as { readonly result: unknown }).result;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function misuse(message: string, cause?: unknown): MisuseError {
  return new MisuseError(
    'invalid_option',
    `opaPolicy: ${message}`,
    cause === undefined ? undefined : { cause },
  );
}
