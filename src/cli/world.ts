/** The registry with the tools of the command line's files and modules, and its sessions. */
import { resolve } from 'node:path';
import {
  type HostToolRegistry,
  isMisuseError,
  type JsonObject,
  type SessionOptions,
  type ToolSession,
} from '../core.ts';
import { inspectRegistry } from '../extend.ts';
import type * as Config from '../surfaces/config/index.ts';
import type { FileReport, FileSection } from '../surfaces/config/index.ts';
import type { Gateway } from '../surfaces/gateway/gateway.ts';
import { holdClients } from '../surfaces/mcp/held-clients.ts';
import { messageOf } from '../values/errors/index.ts';
import { nearestNames } from '../values/text/names.ts';
import type { CliIo } from './cli-io.ts';
import { type CliFault, failure, untilInterrupted, usageFault } from './fault.ts';
import { meant, type Options } from './options.ts';
import { shownPath } from './printable.ts';
import { readFacts } from './read-text.ts';
import type { Screen } from './screen.ts';
import { checkSource, moduleOf } from './sources.ts';
import { codeHint, unknownTool } from './unknown-tool.ts';

/** An entry that did not load. */
export interface LoadFailure {
  readonly section: FileSection;
  readonly file: string;
  /** From 0. */
  readonly index: number;
  readonly name?: string | undefined;
  readonly reason: string;
  /** From 1. */
  readonly line?: number | undefined;
}

/** Options of a session. Absent ones come from the command line. */
export interface SessionWish {
  readonly profile?: string | undefined;
  readonly facts?: JsonObject | undefined;
  readonly principal?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly approver?: SessionOptions['approver'];
  readonly approvalMode?: SessionOptions['approvalMode'];
  readonly scopes?: readonly string[] | undefined;
}

/** The loaded tools, profiles and rules. */
export interface World {
  readonly registry: HostToolRegistry;
  /** The MCP servers, audit logs and kept approvals of the files. */
  readonly gateway: Gateway;
  /** Settles when clients can be served: some tools are there, or are waited for no longer. */
  readonly served: Promise<void>;
  /** Creates a session. @throws CliFault of {@link World.profileFault} for an unknown profile */
  session(wish?: SessionWish): ToolSession;
  /**
   * The error for a profile that does not exist: exit code 1 if it did not load, 2 if no file has
   * it. Undefined if the profile exists.
   */
  profileFault(id: string): CliFault | undefined;
  /**
   * Refuses to continue if a rule or quota did not load, because calls that it forbids would be
   * allowed.
   * @throws CliFault 1
   */
  requireRules(): void;
  /** The message for a name that no tool has, with the nearest names. Undefined for a tool. */
  unknownTool(name: string): string | undefined;
  /** The names of tools that are nearest to a name. */
  nearest(name: string): readonly string[];
  /**
   * What to do about names of tools that are like no known one: code may define them. Undefined if
   * modules were given.
   */
  codeHint(names: readonly string[]): string | undefined;
}

/** Sections of which each entry must load, their nouns, and what would happen otherwise. */
const requiredEntries: Readonly<
  Record<Exclude<FileSection, 'tools' | 'profiles'>, readonly [noun: string, harm: string]>
> = {
  rules: ['rule', 'calls that the rule forbids would be allowed'],
  quotas: ['quota', 'calls that the quota forbids would be allowed'],
  mcpServers: ['server', 'its tools would be missing'],
  store: ['store', 'nothing would be kept'],
  audit: ['log', 'calls would not be recorded'],
  authorization: ['check of tokens', 'anybody could call the tools'],
  approvals: ['place for approvals', 'calls that ask would not be kept'],
  openapi: ['list of HTTP APIs', 'their tools would be missing'],
  credentials: ['list of credentials', 'tools that need them would be refused'],
  code: ['setting of programs', 'models would see every tool in their place'],
  network: ['list of hosts', '`host-tools guard` would not start'],
};

/** How the gateway is used. */
interface Serving {
  /** Called with a function that stops watching a file. */
  onWatch(close: () => void): void;
  readonly gateway: Gateway;
  /** Clients are served. Files are watched, and slow servers do not delay the start. */
  readonly serves: boolean;
}

/**
 * Clients see the tools of servers that start within this time at once. They see others later. With
 * `npx`, a few servers at a time may well take two seconds.
 */
const servedWithinMs = 4_000;
/**
 * If there is no tool yet, clients are served when the first server is ready, or after this time.
 * Most clients wait 30 seconds and more for a list.
 */
const servedAtLastMs = 25_000;
/** A command that ends by itself waits this long for servers to start. */
const startedWithinMs = 60_000;

/**
 * Loads the files and modules of the options, in their order. Each entry that does not load is a
 * line on the screen.
 * @throws CliFault for a file or module that cannot be loaded at all
 */
export async function openWorld(
  registry: HostToolRegistry,
  options: Options,
  io: CliIo,
  screen: Screen,
  { gateway, serves, onWatch }: Serving,
): Promise<World> {
  const facts = await readFacts(options.session.facts, io);
  const failed = await loadSources(registry, options, io, screen, serves ? onWatch : undefined);
  const waits = gateway.hasServers && serves;
  const served = waits ? someServed(gateway, registry, screen) : Promise.resolve();
  if (waits) holdClients(registry, served);
  else if (gateway.hasServers) await untilInterrupted(gateway.settled(startedWithinMs), io.signal);
  const world: World = {
    registry,
    gateway,
    served,
    session({
      profile = options.session.profile,
      facts: more,
      principal,
      sessionId = 'cli',
      approver,
      approvalMode,
      scopes,
    } = {}) {
      const fault = profile === undefined ? undefined : world.profileFault(profile);
      if (fault !== undefined) throw fault;
      return registry.createSession({
        sessionId,
        cwd: io.cwd,
        facts: more ?? facts,
        ...(profile === undefined ? {} : { profile }),
        ...(principal === undefined ? {} : { principal }),
        ...(approver === undefined ? {} : { approver }),
        ...(approvalMode === undefined ? {} : { approvalMode }),
        ...(scopes === undefined ? {} : { scopes }),
      });
    },
    profileFault(id) {
      if (registry.profile(id) !== undefined) return undefined;
      const lost = failed.some(({ section, name }) => section === 'profiles' && name === id);
      return lost
        ? failure(`The profile \`${id}\` did not load. Its line above says why.`)
        : usageFault(unknownProfile(id, [...inspectRegistry(registry).profiles.keys()]));
    },
    requireRules: () => refuseLostRules(failed, gateway),
    unknownTool: (name) =>
      // A name of code mode is taken, and is none of the registry's tools.
      registry.get(name) === undefined && inspectRegistry(registry).taken(name) !== name
        ? unknownTool(name, registry.listNames(), world.codeHint([name]))
        : undefined,
    nearest: (name) => nearestNames(name, registry.listNames()),
    codeHint: (names) => codeHint(names, registry.listNames(), options.sources),
  };
  return world;
}

/** Waits until clients can be served, longest if there are no tools yet. Never rejects. */
async function someServed(
  gateway: Gateway,
  registry: HostToolRegistry,
  screen: Screen,
): Promise<void> {
  const hasTools = registry.listNames().length > 0;
  const maxMs = hasTools ? servedWithinMs : servedAtLastMs;
  // Servers that were ended before that time, such as by the end of the command, are not slow.
  if (await gateway.settled(servedWithinMs, maxMs)) return;
  const statuses = gateway.statuses();
  const starting = statuses.filter(({ state }) => state === 'starting');
  if (hasTools || starting.length === 0 || statuses.some(({ state }) => state === 'ready')) return;
  const names = starting.map(({ name }) => `\`${name}\``).join(', ');
  screen.note(
    `warning: no server is ready after ${servedAtLastMs / 1_000} s. Still starting: ${names}. ` +
      'Clients are told when tools come; connect a client again that does not show them.',
  );
}

/** @throws CliFault if an entry is lost that must not be */
function refuseLostRules(failed: readonly LoadFailure[], gateway: Gateway): void {
  for (const [section, [one, harm]] of Object.entries(requiredEntries)) {
    const { length } = failed.filter((entry) => entry.section === section);
    if (length > 0)
      throw failure(
        `${length === 1 ? `A ${one}` : `${length} ${section}`} did not load, so nothing of the ` +
          `file was loaded: ${harm}. Fix the lines above.`,
      );
  }
  if (gateway.hasServers && failed.length > 0)
    throw failure('An entry did not load, so the gateway does not start. Fix the lines above.');
}

/** Loads the files and modules. Resolves to the entries that did not load. @throws CliFault */
async function loadSources(
  registry: HostToolRegistry,
  options: Options,
  io: CliIo,
  screen: Screen,
  onWatch: Serving['onWatch'] | undefined,
): Promise<readonly LoadFailure[]> {
  const failed: LoadFailure[] = [];
  if (options.sources.length === 0)
    throw usageFault(
      'There are no tools to work with. Give `--host-tools FILE` or `--host-tools-module MOD`.',
    );
  const config = await import('../surfaces/config/index.ts');
  for (const { kind, name } of options.sources) {
    await checkSource({ kind, name }, io);
    try {
      const loading =
        kind === 'file'
          ? onWatch === undefined
            ? config.loadHostTools(resolve(io.cwd, name), registry)
            : watchSource(resolve(io.cwd, name), registry, { config, io, screen, onWatch })
          : config.loadHostToolsModule(moduleOf(name, io.cwd), registry);
      const report = await untilInterrupted(loading, io.signal);
      failed.push(...report.failed);
      for (const one of report.failed) screen.note(placeOf(one, io.cwd));
    } catch (error) {
      if (io.signal.aborted) throw error;
      // The messages of the loaders name the file.
      throw failure(
        isMisuseError(error) ? error.message : `Cannot load \`${name}\`: ${messageOf(error)}`,
      );
    }
  }
  return failed;
}

/** Loads a file and follows its edits. */
async function watchSource(
  path: string,
  registry: HostToolRegistry,
  {
    config,
    io,
    screen,
    onWatch,
  }: {
    readonly config: typeof Config;
    readonly io: CliIo;
    readonly screen: Screen;
    readonly onWatch: Serving['onWatch'];
  },
): Promise<FileReport> {
  const shown = shownPath(path, io.cwd);
  const watch = config.watchHostTools(path, registry, {
    onReload: () => screen.note(`${shown}: the edit is in effect.`),
    onError: ({ message }) => {
      const kept = message.includes('nothing was changed') ? '' : '; nothing was changed';
      screen.note(`warning: ${message}${kept}`);
    },
  });
  onWatch(() => watch.close());
  await watch;
  return watch.report as FileReport;
}

/** One line: the unknown name, the name that was probably meant, and the names that exist. */
function unknownProfile(id: string, known: readonly string[]): string {
  const there =
    known.length === 0
      ? 'No profile is defined. Give a file that has `profiles`.'
      : `The profiles are ${listed(known)}.`;
  return `Unknown profile \`${id}\`. ${meant(id, known)}${there}`;
}

function listed(ids: readonly string[]): string {
  const shown = ids.slice(0, 10).map((id) => `\`${id}\``);
  return (
    shown.join(', ') + (ids.length > shown.length ? ` and ${ids.length - shown.length} more` : '')
  );
}

function placeOf({ section, file, index, name, reason, line }: LoadFailure, cwd: string): string {
  const path = shownPath(file, cwd);
  const where = line === undefined ? path : `${path}:${line}`;
  return `${where}: ${section}[${index}]${name === undefined ? '' : ` \`${name}\``}: ${reason}`;
}
