/** The operations of HTTP APIs that an OpenAPI document describes, as governed tools. */
import { type AnyTool, MisuseError, type ToolRegistration } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import { createPause } from '../../values/limits/stretches.ts';
import { readOptions, wrongOption } from '../../values/options/index.ts';
import { globTest } from '../../values/text/glob.ts';
import { nameSkeleton } from '../../values/text/names.ts';
import type { UncheckedPart } from '../shared/foreign-schema.ts';
import { readPins } from '../shared/import-options.ts';
import { cleanLine } from '../shared/outside-text.ts';
import { createLedger, type Ledger } from '../shared/pins.ts';
import { fieldLabels, labelsByGlob } from '../shared/tool-labels.ts';
import { executorOf, type Wire } from './call.ts';
import { headersOf, queryOf } from './credentials.ts';
import type { DefinitionOptions, defineOperation } from './definition.ts';
import type { OpenApiDocument } from './document.ts';
import { type ImportOpenApiOptions, importTable, labelTable } from './import-options.ts';
import type { ImportedOpenApi, OpenApiWarning } from './imported.ts';
import { type OpenApiFailure, type Operation, operationsOf } from './operations.ts';
import { membersOf } from './references.ts';
import { type Gives, keysIn, lackOf } from './security.ts';

export type { Pin as OpenApiPin } from '../shared/import-options.ts';
export type { PinDrift as OpenApiDrift } from '../shared/pins.ts';
export type { ToolLabels as OpenApiToolLabels } from '../shared/tool-labels.ts';
export type { OpenApiAuth, OpenApiRequest } from './call.ts';
export type { OpenApiDocument } from './document.ts';
export type { ImportOpenApiOptions } from './import-options.ts';
export type { ImportedOpenApi, OpenApiWarning } from './imported.ts';
export type { OpenApiFailure } from './operations.ts';

const where = 'importOpenApi';
/** Most instructions of the patterns of a document, which take a second or two to compile. */
const maxPatternSize = 1_000_000;
/** Most parts of all schemas together. GitHub's have 240 000. */
const maxParts = 1_000_000;
/** Most characters of all finished schemas together. GitHub's have 7 million. */
const maxCharacters = 32_000_000;

/**
 * Makes definitions of the operations of an OpenAPI document (3.0 or 3.1). The document is not
 * trusted: its schemas are checked as schemas from outside, its texts are cleaned and shortened,
 * nothing outside it is read, and an operation that changes is withdrawn until it is accepted.
 * @param document what was parsed, a path or a file URL, or an http(s) address
 * @throws (rejects with) MisuseError `invalid_option`, `invalid_file`, `missing_dependency`, and
 * what `registry.registerAll` throws; an error with the code `executor_lost` for an address that
 * does not answer
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { importOpenApi } from 'host-tools/openapi';
 *
 * const registry = new HostToolRegistry({
 *   rules: [{ effect: 'ask', source: 'openapi:orders', annotations: { destructive: true } }],
 * });
 * const orders = await importOpenApi('./orders.yaml', {
 *   registry,
 *   name: 'orders',
 *   server: 'https://orders.example.com/v1',
 *   auth: (_request, { session }) => ({ authorization: `Bearer ${session.environment.TOKEN}` }),
 * });
 * // later: await orders.close();
 * ```
 */
export async function importOpenApi(
  document: OpenApiDocument,
  options: ImportOpenApiOptions,
): Promise<ImportedOpenApi> {
  const state = openState(options);
  const { ledger } = state;
  const { signal } = state.options;
  const stop = (): void => close(state);
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await read(state, document);
  } catch (error) {
    close(state);
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  const closing = async (): Promise<void> => close(state);
  return Object.freeze({
    get source() {
      return state.source as string;
    },
    get tools() {
      return ledger.tools;
    },
    get pins() {
      return ledger.pins;
    },
    get drift() {
      return ledger.drift;
    },
    get failed() {
      return state.failed;
    },
    get warnings() {
      return state.warnings;
    },
    found: ledger.found,
    accept(name: string, found?: string) {
      ledger.accept(name, found);
      register(state);
    },
    refresh: () => read(state, document),
    close: closing,
    [Symbol.asyncDispose]: closing,
  });
}

interface State {
  readonly options: ReturnType<typeof readOptions<typeof importTable>>;
  readonly wire: Wire;
  readonly ledger: Ledger;
  readonly digests: WeakMap<AnyTool<unknown>, string>;
  readonly closing: AbortController;
  /** The tools in the registry, by name. */
  readonly held: Map<string, ToolRegistration>;
  source: string | undefined;
  failed: readonly OpenApiFailure[];
  warnings: readonly OpenApiWarning[];
  /** Counts the readings. A reading is void as soon as another one begins. */
  readings: number;
}

function openState(given: ImportOpenApiOptions): State {
  const options = readOptions(where, given, importTable);
  const { server, name, auth, pins, registry, headers } = options;
  for (const [glob, given] of Object.entries(options.labels))
    readOptions(where, given, labelTable, {
      noun: 'label',
      path: `labels["${cleanLine(glob, 100)}"]`,
    });
  if (
    options.credentials !== undefined &&
    Object.hasOwn(headersOf(headers, '`headers`'), 'authorization')
  )
    throw wrongOption(where, 'headers', 'without `authorization`, which `credentials` gives', '');
  // It must be one whose changes can be told together.
  if (registry !== undefined) inspectRegistry(registry);
  const closing = new AbortController();
  const digests: State['digests'] = new WeakMap();
  return {
    options,
    wire: {
      server: new URL(server),
      headers: headersOf(headers, '`headers`'),
      query: queryOf(options.query),
      auth,
      sendsToken: options.credentials !== undefined,
      closed: closing.signal,
    },
    ledger: createLedger(readPins(where, pins), {
      digestOf: (tool) => digests.get(tool) as string,
      offers: 'The document',
    }),
    digests,
    closing,
    held: new Map(),
    source: name === undefined ? undefined : `openapi:${name}`,
    failed: [],
    warnings: [],
    readings: 0,
  };
}

/**
 * Reads the document, and offers its operations to the ledger. Longer than 60 lines, since each
 * operation adds to what all of them share.
 */
async function read(state: State, given: OpenApiDocument): Promise<void> {
  const reading = ++state.readings;
  const mustBeCurrent = (): void => {
    if (state.closing.signal.aborted)
      throw new MisuseError('closed', `${where}: the import was closed.`);
    if (reading !== state.readings)
      throw new MisuseError(
        'invalid_option',
        `${where}: the document is being read again already.`,
      );
  };
  mustBeCurrent();
  // What reads documents and checks their schemas is loaded with the first one.
  const { readDocument } = await import('./document.ts');
  const { defineOperation } = await import('./definition.ts');
  const document = await readDocument(given, state.closing.signal);
  mustBeCurrent();
  state.source ??= `openapi:${cleanLine(membersOf(document.info).title, 64) || 'unnamed'}`;
  const failed: OpenApiFailure[] = [];
  const warnings: OpenApiWarning[] = [];
  const found = new Map<string, AnyTool<unknown>>();
  const shared = {
    document,
    keys: keysIn(document),
    budget: { left: maxParts, characters: maxCharacters },
    patterns: { left: maxPatternSize },
  };
  const lacks = new Map<string, [first: string, count: number]>();
  const pause = createPause();
  const all = operationsOf(document, failed);
  for (const operation of taken(all, state, warnings)) {
    await pause();
    mustBeCurrent();
    const shownName = cleanLine(operation.id, 200);
    try {
      const unchecked: UncheckedPart[] = [];
      const tool = define(operation, state, defineOperation, { ...shared, unchecked });
      const skeleton = nameSkeleton(tool.name);
      const twin = found.get(skeleton)?.name;
      if (twin !== undefined)
        throw new MisuseError(
          'name_conflict',
          `Its name can be mistaken for \`${twin}\`, which comes first in the document.`,
        );
      found.set(skeleton, tool);
      for (const part of unchecked) warnings.push({ name: shownName, ...part });
      const lack = lackOf(document, operation.node, mayGive(state.wire));
      if (lack !== undefined) {
        const [first, count] = lacks.get(lack) ?? [shownName, 0];
        lacks.set(lack, [first, count + 1]);
      }
    } catch (error) {
      const reason = cleanLine(error instanceof Error ? error.message : String(error), 1_000);
      failed.push({ name: shownName, reason });
    }
  }
  for (const [lack, [name, count]] of lacks)
    warnings.push({
      name,
      path: '/security',
      message: count === 1 ? lack : `${lack} ${count} operations need it.`,
    });
  state.failed = Object.freeze(failed);
  state.warnings = Object.freeze(warnings);
  state.ledger.offer([...found.values()]);
  register(state);
}

/** The operations that the host wants. A glob that matches none is probably misspelt. */
function taken(
  all: readonly Operation[],
  { options: { operations, labels } }: State,
  warnings: OpenApiWarning[],
): readonly Operation[] {
  for (const [member, globs] of [
    ['operations', operations ?? []],
    ['labels', Object.keys(labels)],
  ] as const)
    for (const glob of globs) {
      const matches = globTest(glob, false);
      if (!all.some(({ id }) => matches(id)))
        warnings.push({
          name: cleanLine(glob, 200),
          path: `/${member}`,
          message: 'It matches no operation of the document.',
        });
    }
  if (operations === undefined) return all;
  const tests = operations.map((glob) => globTest(glob, false));
  return all.filter(({ id }) => tests.some((matches) => matches(id)));
}

function define(
  operation: Operation,
  state: State,
  make: typeof defineOperation,
  shared: Pick<DefinitionOptions, 'document' | 'keys' | 'budget' | 'patterns' | 'unchecked'>,
): AnyTool<unknown> {
  const { options, ledger, wire, digests } = state;
  const source = state.source as string;
  const labels = labelsByGlob(options.labels)(operation.id);
  let origin: ReturnType<Ledger['originOf']> | undefined;
  const { tool, digest } = make(operation, {
    ...shared,
    prefix: options.prefix,
    source,
    timeoutMs: options.timeoutMs,
    labels,
    credentials: options.credentials,
    given: (place, name) => gives(wire, place, name),
    executorOf: (plan) =>
      executorOf(operation.id, plan, wire, shared.keys, () => origin?.withdrawn()),
    originOf: (name, print) => {
      const made = ledger.originOf(name, source, fieldLabels(labels));
      made.fingerprint = print;
      origin = {
        ...made,
        withdrawn: () => (wire.closed.aborted ? 'removed' : made.withdrawn()),
      };
      return origin;
    },
  });
  digests.set(tool, digest);
  return tool;
}

/** Whether every request has this of the host. */
function gives({ headers, query, sendsToken }: Wire, place: string, name: string): boolean {
  if (place === 'query') return Object.hasOwn(query, name);
  return Object.hasOwn(headers, name) || (sendsToken && name === 'authorization');
}

/** The same, as far as is known: `auth` may give any header. */
function mayGive(wire: Wire): Gives {
  return (place, name) =>
    (place === 'header' && wire.auth !== undefined) || gives(wire, place, name);
}

/** Brings the registry up to what is accepted. What it has already follows the ledger. */
function register({ options: { registry }, ledger, held }: State): void {
  if (registry === undefined) return;
  for (const [name, registration] of held) {
    if (ledger.found(name) !== undefined || Object.hasOwn(ledger.pins, name)) continue;
    registration.unregister();
    held.delete(name);
  }
  const fresh = ledger.tools.filter(({ name }) => !held.has(name));
  const registrations = registry.registerAll(fresh);
  for (const registration of registrations) held.set(registration.name, registration);
}

function close({ closing, ledger, held, options: { registry } }: State): void {
  closing.abort();
  ledger.close();
  if (held.size === 0) return;
  inspectRegistry(registry).change(() => {
    for (const registration of held.values()) registration.unregister();
  });
  held.clear();
}
