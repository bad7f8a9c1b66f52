/** Code mode as a part of a registry: sessions run programs that call their tools. */

import type { ApprovalOutcome } from '../../api/answers.ts';
import type { ApprovalRequest } from '../../api/approval.ts';
import type { CodeOptions, CodeRunner } from '../../api/code.ts';
import type { Store } from '../../api/store.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { Answers } from '../../core/call/ports.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import type { Ports } from '../../core/registry/ports.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import { ToolEntry } from '../../core/tool/tool-entry.ts';
import { canKeep, checkedStore, expectUse, storeOption } from '../../stores/shared/use-store.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { anything, readOptions, type TableOf, withMethods } from '../../values/options/index.ts';
import { nameSkeleton } from '../../values/text/names.ts';
import type { Journals } from './journals.ts';
import { CodeListing, type Select } from './listing.ts';
import { type CodeTools, codeTool } from './run-code.ts';
import { inCodePort, madeSlot, placeSlot } from './session-port.ts';
import { type CodeSettings, readCode, sharedCode, takenNames } from './settings.ts';

/** Options of {@link codeMode}. */
export interface CodeModeOptions {
  /** What runs programs. @default QuickJS in a thread, by the package `run` */
  readonly runner?: CodeRunner | undefined;
}

const table = { runner: withMethods<CodeRunner>(['run']) } satisfies TableOf<CodeModeOptions>;

/**
 * The part that adds the option `code` of sessions: their models write programs, in which every
 * call of a tool passes the gates of the session. Also `session.declarations`.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { codeMode } from 'host-tools/code';
 * import { HostToolRegistry } from 'host-tools/core';
 *
 * const registry = new HostToolRegistry({ parts: [codeMode()] });
 * const session = registry.createSession({ sessionId: 's1', code: { maxCalls: 20 } });
 * ```
 */
export function codeMode(options: CodeModeOptions = {}): Part {
  const { runner } = readOptions('codeMode', options, table);
  return runner === undefined ? usual : partWith(runner);
}

/** The package is loaded for the first program. */
const lazyRunner: CodeRunner = {
  run: async (program) => (await import('./quick-js-runner.ts')).quickJsRunner.run(program),
};

/**
 * Looks for it without loading it. A runtime that cannot look says so when the first program runs.
 * @throws MisuseError `missing_dependency`.
 */
function checkPackage(where: string): void {
  try {
    // Taken apart, since bundlers would look for the package themselves.
    const { resolve } = import.meta as Partial<ImportMeta>;
    resolve?.('run');
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') return;
    throw new MisuseError(
      'missing_dependency',
      `${where}: the package \`run\`, which runs programs, is not installed; run ` +
        '`npm install run`.',
      { cause: error },
    );
  }
}

const settingsSlot = new Slot<CodeSettings>();
const listings = new WeakMap<SessionState, CodeListing>();

/** What journals need of a store. */
const journalUse = {
  what: 'the journals of programs',
  needs: ['set', 'get', 'touch', 'list', 'delete'],
} as const;

function partWith(runner: CodeRunner): Part {
  return definePart({
    name: 'codeMode',
    // It lists what discovery lists, and asks for what approvals know.
    rank: 2,
    options: {
      session: { code: anything<CodeOptions | boolean>() },
      registry: { store: storeOption },
    },
    install(ports, registry, { store }) {
      expectUse(ports, store);
      const kept = keptIn(registry, store as Store | undefined);
      const select: Select = ports.sessions.listing;
      ports.sessions.listing = (session, view) =>
        listings.get(session)?.of(session, view) ?? select?.(session, view);
      ports.sessions.options.push((setup, { code }, where) => {
        const given = code as CodeOptions | boolean | undefined;
        const settings =
          given === undefined ? sharedCode(registry)?.settings : readCode(given, where);
        if (settings === undefined) return;
        if (runner === lazyRunner) checkPackage(where);
        settingsSlot.set(setup, settings);
      });
      const names = takeNames(ports);
      ports.sessions.opened.push((session) => {
        // A session that acts for another runs programs as that one does.
        const settings = settingsSlot.of((session.outer ?? session).setup);
        if (settings === undefined) return settingsSlot.delete(session.setup);
        settingsSlot.set(session.setup, settings);
        checkPlace(session, store as Store | undefined);
        openCode(session, settings, { runner, journals: () => kept(session) }, select);
        names.add(nameSkeleton(settings.name));
        void kept(session).then(
          (journals) => journals?.agenda.watch(session),
          (error: unknown) => registry.hostFault(error, { source: 'code' }, 'no journals'),
        );
      });
      inCodePort.set(
        registry,
        (session, found) => listings.get(session)?.findable(session, found) ?? found,
      );
      ports.calls.programOf = (call) => programOf(call, ports.calls.masking);
      ports.programs = {
        made: ({ extra }) => [...((extra && madeSlot.of(extra))?.values() ?? [])],
        isOpen: async (session, { sessionId, runId }) => {
          const journals = await kept(session);
          const { principal } = session;
          return (await journals?.isOpen({ sessionId, principal, runId })) === true;
        },
      };
      ports.sessions.methods.set('declarations', declarationsOf);
      goesOn(ports, kept);
    },
  });
}

/** Programs that wait for people go on, and have an outcome. */
function goesOn(ports: Ports, kept: Kept): void {
  ports.resuming = async (session, callId, approvalId) =>
    (await kept(session))?.resuming(session, callId, approvalId);
  ports.resumed = async (session, ended) => {
    const journals = await kept(session);
    if (journals === undefined) return undefined;
    return (await import('./continue.ts')).continueProgram(session, journals, ended);
  };
  const method = ports.sessions.methods.get('approvals.outcome') as OutcomeMethod | undefined;
  if (method !== undefined)
    ports.sessions.methods.set('approvals.outcome', async (session, id: string) => {
      const outcome = await method(session, id);
      if (outcome.status !== 'unknown' || typeof id !== 'string') return outcome;
      return (await (await kept(session))?.outcome(session, id)) ?? outcome;
    });
}

type Kept = (session: SessionState) => Promise<Journals | undefined>;

/** A store that keeps no journals is no fault as long as no session runs programs. */
function checkPlace(session: SessionState, store: Store | undefined): void {
  const { answers } = session.registry.ports.calls;
  const place = store ?? (mayWait(session) ? answers?.store() : undefined);
  const option = store === undefined ? 'approvals.store' : 'store';
  if (place !== undefined) checkedStore('HostToolRegistry', option, place, journalUse);
}

type OutcomeMethod = (session: SessionState, id: string) => Promise<ApprovalOutcome>;

/**
 * The journals of a registry: in its store, or else, once a program may have to wait for people,
 * where calls that wait are kept, so that an answer finds both.
 */
function keptIn(registry: RegistryState, store: Store | undefined): Kept {
  const shared = store !== undefined && canKeep(store, journalUse) ? store : undefined;
  if (shared !== undefined) registry.ports.usesStore = true;
  let journals: Promise<Journals> | undefined;
  const open = async (): Promise<Journals> => {
    const { Journals } = await import('./journals.ts');
    const { goOn } = await import('./continue.ts');
    // Sessions suspend calls only with the part that keeps them.
    const place = shared ?? (registry.ports.calls.answers as Answers).store();
    return new Journals(place, registry, goOn);
  };
  return async (session) => {
    if (shared !== undefined || mayWait(session)) journals ??= open();
    return journals;
  };
}

function mayWait({ setup }: SessionState): boolean {
  return setup.approvalMode === 'suspend' && settingsSlot.of(setup) !== undefined;
}

function openCode(
  session: SessionState,
  settings: CodeSettings,
  tools: CodeTools,
  select: Select,
): void {
  const { registry } = session;
  const { name } = settings;
  const taken =
    registry.catalogue.twinOf(name) ?? takenNames.find((one) => registry.catalogue.tools.has(one));
  if (taken !== undefined)
    throw new MisuseError(
      'name_conflict',
      `createSession: \`code\` brings a tool with the name \`${name}\`, and in its programs ` +
        `${takenNames.map((one) => `\`${one}\``).join(', ')} have a meaning. The registry has a ` +
        `tool \`${taken}\`. Rename your tool, or set \`code.name\`.`,
    );
  const definition = codeTool(settings, tools);
  const entry = new ToolEntry(definition, 'host', registry.waiting.graph);
  entry.isProgram = true;
  const listing = new CodeListing(settings, entry, select);
  // Code mode lists its tool itself.
  registry.ports.tools.own.set(definition, {
    isListed: () => false,
    describe: (one) => listing.describe(one),
  });
  listings.set(session, listing);
  session.tools.brought = new Map([...(session.tools.brought ?? []), [name, entry]]);
  session.stamp++;
}

/** What programs mean by a name must not change under them. @returns the names of their tools */
function takeNames(ports: Ports): Set<string> {
  const names = new Set<string>();
  ports.tools.definitions.push(({ name }, session) => {
    const isTaken =
      session === undefined
        ? names.has(nameSkeleton(name)) || (names.size > 0 && takenNames.includes(name))
        : listings.has(session) && takenNames.includes(name);
    if (isTaken) throw lateName(name);
  });
  return names;
}

/** A tool has a name that a session with code uses already. */
function lateName(name: string): MisuseError {
  return new MisuseError(
    'name_conflict',
    `The name \`${name}\` has a meaning in sessions with \`code\`, and there is such a session. ` +
      'Choose another name.',
  );
}

/** @throws MisuseError `invalid_option` for a session without code mode. */
function declarationsOf(session: SessionState): string {
  const listing = listings.get(session);
  if (listing === undefined)
    throw new MisuseError(
      'invalid_option',
      'declarations: the session runs no programs. Create it with the option `code: {}`.',
    );
  return listing.declarations(session);
}

const usual = partWith(lazyRunner);

/** Where a call stands in a program, whose source is left out if it may hold a secret. */
function programOf(
  call: FoundCall,
  masking: Ports['calls']['masking'],
): Pick<ApprovalRequest, 'program'> {
  const { parent, callId, resumed } = call;
  const place = parent?.extra && placeSlot.of(parent.extra)?.get(callId);
  const program = place ?? resumed?.place?.program;
  if (program === undefined) return {};
  const { source, line } = program;
  const isShown = source !== undefined && masking?.hidesProgram(call, source) !== true;
  return { program: isShown ? { source, line } : { line } };
}
