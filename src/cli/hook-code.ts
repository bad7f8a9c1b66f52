/**
 * Keeps the compiled code of a bundle between hooks. Compiling took a third of a hook's time. Node
 * has a similar cache from version 22.1 on, but it does not cover code that is compiled later in a
 * run, or in a folder of its own choice.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants as loaders, Script } from 'node:vm';
import { readPrivateFile } from '../values/files/private-file.ts';
import { replaceFileSync } from '../values/files/whole-file.ts';

/** Bytes of the hash that a kept file begins with. */
const hashBytes = 32;
/** How long code of other versions is kept. */
const keptMs = 86_400_000;

/** A bundle that runs. */
export interface RunningBundle {
  readonly exports: unknown;
  /** What has been compiled so far. */
  compiled(): Uint8Array;
  /** Keeps what has been compiled so far, unless it is kept already. Never throws. */
  keep(): void;
}

/**
 * Compiled code: a folder that only its owner can use, where it is kept; or the code itself, which
 * the caller has verified. It is only used then.
 */
export type CodePlace = string | Uint8Array;

/**
 * Runs a bundle: a file with the expression of a function of `require`, `module`, `exports` and its
 * own URL.
 * @param place Undefined if nothing is kept.
 */
export function runBundle(path: string, place: CodePlace | undefined): RunningBundle {
  const source = readFileSync(path);
  const folder = typeof place === 'string' ? place : undefined;
  // The engine checks its version and the length of the source, and trusts the rest.
  const name = folder === undefined ? '' : `code-${hashOf(source).toString('hex').slice(0, 40)}`;
  const kept = typeof place === 'string' ? readKept(join(place, name)) : place;
  const script = new Script(source.toString('latin1'), {
    filename: path,
    importModuleDynamically: loaders.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(kept === undefined ? {} : { cachedData: kept as Buffer }),
  });
  const isKept = kept !== undefined && script.cachedDataRejected !== true;
  const module: { exports: unknown } = { exports: {} };
  const run = script.runInThisContext() as (...given: readonly unknown[]) => void;
  run(createRequire(path), module, module.exports, pathToFileURL(path).href);
  return {
    exports: module.exports,
    compiled: () => script.createCachedData(),
    keep() {
      if (isKept || folder === undefined) return;
      try {
        writeKept(join(folder, name), script.createCachedData());
        forgetOthers(folder, name);
      } catch {
        // The next hook compiles again.
      }
    },
  };
}

/** Undefined if there is no file, or if a hook of this user has not written it completely. */
function readKept(file: string): Buffer | undefined {
  try {
    const bytes = readPrivateFile(file, 'so it is not used');
    const data = bytes?.subarray(hashBytes);
    return data !== undefined && hashOf(data).equals(bytes?.subarray(0, hashBytes) as Buffer)
      ? data
      : undefined;
  } catch {
    return undefined;
  }
}

/** Written as a whole, because an engine may crash if it gets half of its data. */
function writeKept(file: string, data: Buffer): void {
  replaceFileSync(file, Buffer.concat([hashOf(data), data]), { durable: false });
}

function forgetOthers(folder: string, name: string): void {
  for (const other of readdirSync(folder)) {
    if (!other.startsWith('code-') || other === name) continue;
    const at = lstatSync(join(folder, other), { throwIfNoEntry: false })?.mtimeMs;
    if (at !== undefined && Date.now() - at > keptMs) rmSync(join(folder, other), { force: true });
  }
}

function hashOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
