/** Makes the executor of a tool with `sandbox`. Loaded only for files that have one. */
import { dirname, resolve } from 'node:path';
import type { Executor } from '../../core.ts';
import { childExecutor } from '../../executors/sandbox/process-executor.ts';
import { threadExecutor } from '../../executors/sandbox/worker-executor.ts';
import type { SandboxEntry } from './sandbox-format.ts';

/** The longest name of an export that a sandbox looks for. */
const longestExport = 200;

/** A handler in a file of tools. */
export interface HandlerEntry {
  /** The absolute path of the file of tools. Paths are relative to its folder. */
  readonly file: string;
  /** The absolute path of the module. */
  readonly module: string;
  readonly tool: string;
  /** The export, if the file names one. */
  readonly function: string | undefined;
}

/** @throws MisuseError `invalid_option` that begins with `sandbox`. */
export function executorFor(sandbox: SandboxEntry, handler: HandlerEntry): Executor {
  const { kind, maxMemoryMb, env, killAfterMs, pool, permissions, cwd, bubblewrap } = sandbox;
  const chosen = handler.function ?? handler.tool;
  const name = chosen.length <= longestExport ? chosen : 'default';
  const otherwise = handler.function === undefined ? 'default' : undefined;
  const common = { module: handler.module, export: name, maxMemoryMb, env, killAfterMs, pool };
  if (kind === 'thread') return threadExecutor('sandbox', common, otherwise);
  const folder = dirname(handler.file);
  const absolute = (paths: readonly string[] | undefined): readonly string[] | undefined =>
    paths?.map((path) => resolve(folder, path));
  const fs = permissions?.fs;
  return childExecutor(
    'sandbox',
    {
      ...common,
      permissions: permissions && {
        ...permissions,
        fs: fs && { read: absolute(fs.read), write: absolute(fs.write) },
      },
      cwd: cwd === undefined ? undefined : resolve(folder, cwd),
      bubblewrap,
    },
    otherwise,
  );
}
