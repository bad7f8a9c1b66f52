/**
 * Watches a file. An edit that loads as a whole replaces what the file had loaded. Any other edit
 * changes nothing and is reported.
 */
import { type FSWatcher, unwatchFile, watchFile, watch as watchFolder } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type HostToolRegistry, isMisuseError, MisuseError } from '../../core.ts';
import { isThenable } from '../../values/maybe-promise.ts';
import {
  fn,
  milliseconds,
  type OptionValues,
  readOptions,
  type TableOf,
  withDefault,
} from '../../values/options/index.ts';
import { applyFile, partsReady } from './apply-file.ts';
import { causeText } from './import-module.ts';
import { oneLine } from './issues.ts';
import { checkRegistry } from './load-host-tools.ts';
import { loadedFiles, logFault } from './loaded-files.ts';
import { prepareFile } from './prepared-file.ts';
import { pathOf, readFile, signatureOf } from './read-file.ts';
import type { FileReport } from './report.ts';
import { hostReady } from './try-hosted.ts';

/**
 * The options of {@link watchHostTools}. What a listener throws or rejects with is logged by the
 * registry's logger and has no other effect.
 */
export interface WatchOptions {
  /**
   * Called after each edit that was applied. Not called for the first load, which settles the
   * promise.
   */
  readonly onReload?: ((report: FileReport) => void) | undefined;
  /**
   * Called with `invalid_file` for each edit that was not applied; the state before it is kept. If
   * entries failed, `report` has all of them. Called once with `closed` if the registry was closed;
   * the watch has then ended.
   * @default emits a warning of the process, named `HostToolsWarning`
   */
  readonly onError?: ((error: MisuseError, report?: FileReport) => void) | undefined;
  /**
   * Milliseconds to wait after the last sign of an edit before reading it, because editors write in
   * several steps. 0 to 60 000. @default 100
   */
  readonly debounceMs?: number | undefined;
}

/**
 * A file that is being watched. It keeps the process alive until it is closed, as timers and
 * servers do.
 */
export interface Watch {
  /** The report of the last load that was applied. Undefined until the first one is done. */
  readonly report: FileReport | undefined;
  /**
   * Stops watching. What was loaded stays registered. An edit that is being read is neither applied
   * nor reported. Idempotent.
   */
  close(): void;
}

/**
 * Loads a file as `loadHostTools` does, then loads it again whenever it changes. The result is a
 * promise, which settles with the first load, and also the watch, which can be closed before that.
 * An edit is applied as a whole or not at all: a single broken entry leaves everything unchanged.
 * Tools that an edit does not touch keep their registration.
 * @param path As for `loadHostTools`.
 * @throws MisuseError as a rejection, as `loadHostTools` does; the file is not watched then.
 * `invalid_option` synchronously, for wrong arguments.
 *
 * @example
 * ```ts
 * import { watchHostTools } from 'host-tools/config';
 *
 * const watch = await watchHostTools('host-tools.yaml', registry, {
 *   onError: (error) => console.error(error),
 * });
 * // later: watch.close();
 * ```
 */
export function watchHostTools<S>(
  path: string | URL,
  registry: HostToolRegistry<S>,
  options: WatchOptions = {},
): Promise<Watch> & Watch {
  const target = checkRegistry(registry, 'watchHostTools');
  const file = pathOf(path, 'watchHostTools');
  const watching = new Watching(file, target, readOptions('watchHostTools', options, watchTable));
  const watch: Watch = {
    get report() {
      return watching.report;
    },
    close: () => watching.close(),
  };
  const first = watching.start().then(() => watch);
  return Object.defineProperties(first, Object.getOwnPropertyDescriptors(watch)) as Promise<Watch> &
    Watch;
}

const watchTable = {
  onReload: fn<NonNullable<WatchOptions['onReload']>>(),
  onError: fn<NonNullable<WatchOptions['onError']>>(),
  debounceMs: withDefault(milliseconds(0, 60_000), 100),
} satisfies TableOf<WatchOptions>;

type ReadWatchOptions = OptionValues<typeof watchTable>;

/**
 * Milliseconds between two checks for changes that cause no event of the folder: an edit of a
 * link's target, or the replacement of the folder itself.
 */
const pollMs = 1_000;
/**
 * An edit is read at the latest this many times `debounceMs` after its first sign, even if the
 * signs continue.
 */
const maxDebounces = 10;

class Watching {
  report: FileReport | undefined;
  readonly #file: string;
  readonly #registry: HostToolRegistry<never>;
  readonly #options: ReadWatchOptions;
  #watcher: FSWatcher | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The time of the first sign of an edit that was not read yet. */
  #since: number | undefined;
  /** The signature of the file when it was last read. */
  #signature: string | undefined;
  #loading = false;
  /** Whether there was a sign of an edit during a load. */
  #again = false;
  #closed = false;

  constructor(file: string, registry: HostToolRegistry<never>, options: ReadWatchOptions) {
    this.#file = file;
    this.#registry = registry;
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#loading = true;
    try {
      await signatureOf(this.#file);
      if (this.#closed) return;
      // Watching starts before the first read, so that no edit between the two is missed.
      this.#watch();
      await this.#load(false);
    } catch (error) {
      const closed = this.#closed;
      this.close();
      if (!closed) throw error;
    } finally {
      this.#loading = false;
    }
    if (this.#again) this.#arm();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#watcher?.close();
    this.#watcher = undefined;
    unwatchFile(this.#file, this.#polled);
  }

  /**
   * Watches the folder and not the file, because editors replace the file with a new one, and a
   * watch of the old file would then see no further edits.
   */
  #watch(): void {
    const name = basename(this.#file);
    try {
      this.#watcher = watchFolder(dirname(this.#file), (_, changed) =>
        this.#hear(changed === null || changed === name),
      );
      this.#watcher.on('error', (error) => this.#tell(this.#faultOf(error)));
      watchFile(this.#file, { interval: pollMs }, this.#polled);
    } catch (error) {
      throw this.#faultOf(error);
    }
  }

  readonly #polled = (): void => this.#hear(false);

  /**
   * Handles a change in the folder. Any change may affect the file, which may be a link, but only
   * changes of the file itself postpone the reading.
   */
  #hear(own: boolean): void {
    if (this.#closed) return;
    if (this.#loading) this.#again = true;
    else if (own || this.#timer === undefined) this.#arm();
  }

  #arm(): void {
    if (this.#closed) return;
    this.#again = false;
    clearTimeout(this.#timer);
    const { debounceMs } = this.#options;
    const now = performance.now();
    this.#since ??= now;
    const left = this.#since + maxDebounces * debounceMs - now;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#since = undefined;
        void this.#reload();
      },
      Math.max(0, Math.min(debounceMs, left)),
    );
  }

  async #reload(): Promise<void> {
    this.#loading = true;
    try {
      await this.#load(true);
    } catch (error) {
      this.#tell(isMisuseError(error) ? error : this.#faultOf(error));
      // A closed registry cannot load anything, so the watch ends.
      if (isMisuseError(error) && error.code === 'closed') this.close();
    } finally {
      this.#loading = false;
    }
    if (this.#again) this.#arm();
  }

  /**
   * Loads the file.
   * @param again Whether this is an edit, which is applied only if it loads as a whole.
   */
  async #load(again: boolean): Promise<void> {
    const last = this.#signature;
    // The signature is taken before the read, so that whatever is written afterwards counts as
    // another edit.
    this.#signature = undefined;
    const signature = await signatureOf(this.#file);
    this.#signature = signature;
    if (again && signature === last) return;
    const file = await readFile(this.#file);
    const prepared = await prepareFile(file, 'all', loadedFiles(this.#registry).versions);
    if (!again) await hostReady(this.#registry, prepared);
    await partsReady(this.#registry, prepared);
    if (this.#closed) return;
    const outcome = applyFile(this.#registry, prepared, again);
    if ('error' in outcome) {
      this.#tell(outcome.error, outcome.report);
      return;
    }
    this.report = outcome;
    if (again) this.#call(this.#options.onReload, outcome);
  }

  #tell(error: MisuseError, report?: FileReport): void {
    if (this.#closed) return;
    const { onError } = this.#options;
    if (onError === undefined) process.emitWarning(error.message, 'HostToolsWarning');
    else if (report === undefined) this.#call(onError, error);
    else this.#call(onError, error, report);
  }

  #call<Args extends readonly unknown[]>(
    listener: ((...args: Args) => unknown) | undefined,
    ...args: Args
  ): void {
    const failed = (thrown: unknown): void =>
      logFault(this.#registry, thrown, { file: this.#file }, 'a listener of a watched file failed');
    try {
      const answer = listener?.(...args);
      if (isThenable(answer)) answer.then(undefined, failed);
    } catch (error) {
      failed(error);
    }
  }

  #faultOf(error: unknown): MisuseError {
    return new MisuseError('invalid_file', `${this.#file}:1:1: ${oneLine(causeText(error))}`, {
      cause: error,
    });
  }
}
