/** What the command line's files and modules make: a registry, and sessions over it. */
import { isAbsolute, resolve } from 'node:path';
import { messageOf } from '../errors.ts';
import {
  type HostToolRegistry,
  isMisuseError,
  type JsonObject,
  type SessionOptions,
  type ToolSession,
} from '../index.ts';
import { registryStateOf } from '../surface-port.ts';
import { nearestNames } from '../text/names.ts';
import type { CliIo } from './cli-io.ts';
import { type CliFault, failure, untilInterrupted, usageFault } from './fault.ts';
import { kindOfFile, optionOf } from './file-kinds.ts';
import { meant, type Options } from './options.ts';
import { readFacts } from './read-json.ts';
import { requireFile } from './read-text.ts';
import type { Screen } from './screen.ts';
import { shownPath } from './shown-path.ts';

/** An entry that did not load. */
export interface LoadFailure {
  /** `tools`, `profiles`, `rules` or what else the file has. */
  readonly section: string;
  readonly file: string;
  /** From 0. */
  readonly index: number;
  readonly name?: string | undefined;
  readonly reason: string;
  /** From 1. */
  readonly line?: number | undefined;
}

/** What a session is asked for; absent: what the command line says. */
export interface SessionWish {
  readonly profile?: string | undefined;
  readonly facts?: JsonObject | undefined;
  readonly principal?: string | undefined;
  readonly approver?: SessionOptions['approver'];
  readonly approvalMode?: SessionOptions['approvalMode'];
}

/** What was loaded. */
export interface World {
  readonly registry: HostToolRegistry;
  /**
   * Makes a session. @throws CliFault for a profile that is not there, as
   * {@link World.profileFault} has it.
   */
  session(wish?: SessionWish): ToolSession;
  /**
   * Why there is no such profile: 1 where it did not load, 2 where nobody defines it; undefined
   * where it is there.
   */
  profileFault(id: string): CliFault | undefined;
  /**
   * Refuses to judge calls where a rule did not load: what it forbids would be allowed. @throws
   * CliFault 1.
   */
  requireRules(): void;
  /** What to say of a name that no tool has, with the nearest ones; undefined for a tool's. */
  unknownTool(name: string): string | undefined;
  /** The names nearest to one. */
  nearest(name: string): readonly string[];
}

/**
 * Loads what the options name, in their order. What fails is noted; a file that cannot be read at
 * all ends the command. @throws CliFault.
 */
export async function openWorld(
  registry: HostToolRegistry,
  options: Options,
  io: CliIo,
  screen: Screen,
): Promise<World> {
  const facts = await readFacts(options.facts, io);
  const failed: LoadFailure[] = [];
  if (options.sources.length === 0)
    throw usageFault(
      'There are no tools to work with. Give `--host-tools FILE` or `--host-tools-module MOD`.',
    );
  const config = await import('../config/index.ts');
  for (const { kind, name } of options.sources) {
    const looks = kindOfFile(name);
    if (looks !== undefined && looks !== kind && (kind === 'file' || isPath(name)))
      throw usageFault(
        `\`${name}\` is ${looks === 'module' ? 'a module' : 'a YAML or JSON file'}. Give it ` +
          `by \`${optionOf[looks]} ${name}\`.`,
      );
    if (kind === 'file' || isPath(name))
      await requireFile(name, io).catch((error: unknown) => {
        throw failure(`Cannot read \`${name}\`: ${messageOf(error)}.`);
      });
    try {
      const loading =
        kind === 'file'
          ? config.loadHostTools(resolve(io.cwd, name), registry)
          : config.loadHostToolsModule(moduleOf(name, io.cwd), registry);
      const report = await untilInterrupted(loading, io.signal);
      failed.push(...report.failed);
      for (const one of report.failed) screen.note(placeOf(one, io.cwd));
    } catch (error) {
      if (io.signal.aborted) throw error;
      // The loaders name the file themselves.
      throw failure(
        isMisuseError(error) ? error.message : `Cannot load \`${name}\`: ${messageOf(error)}`,
      );
    }
  }
  const { profiles } = registryStateOf(registry);
  const world: World = {
    registry,
    session({ profile = options.profile, facts: more, principal, approver, approvalMode } = {}) {
      const fault = profile === undefined ? undefined : world.profileFault(profile);
      if (fault !== undefined) throw fault;
      return registry.createSession({
        sessionId: 'cli',
        cwd: io.cwd,
        facts: more ?? facts,
        ...(profile === undefined ? {} : { profile }),
        ...(principal === undefined ? {} : { principal }),
        ...(approver === undefined ? {} : { approver }),
        ...(approvalMode === undefined ? {} : { approvalMode }),
      });
    },
    profileFault(id) {
      if (profiles.has(id)) return undefined;
      const lost = failed.some(({ section, name }) => section === 'profiles' && name === id);
      return lost
        ? failure(`The profile \`${id}\` did not load; its line above says why.`)
        : usageFault(unknownProfile(id, [...profiles.keys()]));
    },
    requireRules() {
      const rules = failed.filter(({ section }) => section === 'rules').length;
      if (rules > 0)
        throw failure(
          `${rules === 1 ? 'A rule' : `${rules} rules`} did not load, and with it nothing of ` +
            'its file, so what would be refused cannot be told. Mend what is named above.',
        );
    },
    unknownTool(name) {
      if (registry.get(name) !== undefined) return undefined;
      return (
        `Unknown tool \`${name}\`. ${meant(name, registry.listNames())}Run \`host-tools list\` ` +
        'with the same options for all tools.'
      );
    },
    nearest: (name) => nearestNames(name, registry.listNames()),
  };
  return world;
}

/** One line: unknown, what was probably meant, what there is. */
function unknownProfile(id: string, known: readonly string[]): string {
  const there =
    known.length === 0
      ? 'No profile is defined; give a file that has `profiles`.'
      : `There is ${listed(known)}.`;
  return `Unknown profile \`${id}\`. ${meant(id, known)}${there}`;
}

function listed(ids: readonly string[]): string {
  const shown = ids.slice(0, 10).map((id) => `\`${id}\``);
  return (
    shown.join(', ') + (ids.length > shown.length ? ` and ${ids.length - shown.length} more` : '')
  );
}

/** A path starts from the working directory; anything else is a package. */
function moduleOf(name: string, cwd: string): string {
  return isPath(name) ? resolve(cwd, name) : name;
}

function isPath(name: string): boolean {
  return /^\.{1,2}(?:[/\\]|$)/.test(name) || isAbsolute(name);
}

function placeOf({ section, file, index, name, reason, line }: LoadFailure, cwd: string): string {
  const path = shownPath(file, cwd);
  const where = line === undefined ? path : `${path}:${line}`;
  return `${where}: ${section}[${index}]${name === undefined ? '' : ` \`${name}\``}: ${reason}`;
}
