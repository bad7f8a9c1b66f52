/**
 * Watching a file: an edit that loads as a whole replaces what the file had loaded; any other
 * leaves everything as it was, and is told.
 */
import { type FSWatcher, unwatchFile, watchFile, watch as watchFolder } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type HostToolRegistry, isMisuseError, MisuseError } from '../index.ts';
import { isThenable } from '../maybe-promise.ts';
import {
  fn,
  milliseconds,
  type OptionValues,
  readOptions,
  type TableOf,
  withDefault,
} from '../options.ts';
import { applyFile } from './apply-file.ts';
import { causeText } from './import-module.ts';
import { oneLine } from './issues.ts';
import { checkRegistry } from './load-host-tools.ts';
import { loadedFiles, tellFault } from './loaded-files.ts';
import { prepareFile } from './prepared-file.ts';
import { pathOf, readFile, signatureOf } from './read-file.ts';
import type { FileReport } from './report.ts';

/**
 * How {@link watchHostTools} tells what happens. What a listener throws or rejects with goes to the
 * registry's logger and affects nothing.
 */
export interface WatchOptions {
  /** Told after each edit that was applied. Not for the first load: the promise answers that. */
  readonly onReload?: ((report: FileReport) => void) | undefined;
  /**
   * Told of each edit that was not applied, `invalid_file`: the state before it stays. `report` has
   * all entries that failed, where it was entries. Told `closed` once where the registry was
   * closed: the watch has ended then.
   * @default a warning of the process, named `HostToolsWarning`
   */
  readonly onError?: ((error: MisuseError, report?: FileReport) => void) | undefined;
  /**
   * Milliseconds between the last sign of an edit and reading it, since editors write in several
   * steps. 0 to 60 000. @default 100
   */
  readonly debounceMs?: number | undefined;
}

/**
 * A file that is being watched. Until it is closed it keeps the process alive, as timers and
 * servers do.
 */
export interface Watch {
  /** Of the last load that was applied. Undefined until the first one is done. */
  readonly report: FileReport | undefined;
  /**
   * Stops watching; what was loaded stays registered. An edit that is being read is not applied any
   * more, and nobody is told. Idempotent.
   */
  close(): void;
}

/**
 * Loads a file as `loadHostTools` does, then loads it again whenever it changes. The promise
 * settles with the first load, and can be closed before. An edit is applied whole or not at all:
 * one broken entry, and everything stays as it was. Tools that an edit does not touch stay what
 * they are.
 * @param path As for `loadHostTools`.
 * @throws MisuseError as a rejection, as `loadHostTools` does; nothing is watched then.
 * `invalid_option`, at once, for arguments that cannot be meant.
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
 * Milliseconds between two looks at what no event of the folder tells: a link's target that is
 * edited, the folder itself replaced.
 */
const pollMs = 1_000;
/**
 * So many times `debounceMs` after its first sign an edit is read, even if the signs do not end.
 */
const mostDebounces = 10;

class Watching {
  report: FileReport | undefined;
  readonly #file: string;
  readonly #registry: HostToolRegistry<never>;
  readonly #options: ReadWatchOptions;
  #watcher: FSWatcher | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the first sign of an edit came that was not read yet. */
  #since: number | undefined;
  /** What the file was when it was last read. */
  #signature: string | undefined;
  #loading = false;
  /** Something happened while a load was under way. */
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
      // Before the first read, so that no edit falls between the two.
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
   * The folder, not the file: editors put a new file in the place of the old one, and a watch of
   * the old one would see nothing more.
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
   * Any change in the folder may be one of the file, which may be a link; but only its own may put
   * off the reading.
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
    const left = this.#since + mostDebounces * debounceMs - now;
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
      // Nothing can be loaded into a closed registry any more.
      if (isMisuseError(error) && error.code === 'closed') this.close();
    } finally {
      this.#loading = false;
    }
    if (this.#again) this.#arm();
  }

  /** @param again Whether this is an edit: one that does not load as a whole is not applied. */
  async #load(again: boolean): Promise<void> {
    const last = this.#signature;
    // Before the read: what is written after it is seen as another edit.
    this.#signature = undefined;
    const signature = await signatureOf(this.#file);
    this.#signature = signature;
    if (again && signature === last) return;
    const file = await readFile(this.#file);
    const prepared = await prepareFile(file, 'all', loadedFiles(this.#registry).versions);
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
      tellFault(
        this.#registry,
        thrown,
        { file: this.#file },
        'a listener of a watched file failed',
      );
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
