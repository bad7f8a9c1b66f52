/**
 * What a registration, and an update, make of the tools that a session's application has. Pure:
 * from document to document.
 */
import type { JsonObject, JsonValue } from '../../index.ts';
import { canonicalJson, isJsonObject } from '../../json.ts';
import type { RelayedDefinition, ToolsDocument } from '../ports/documents.ts';
import { relayError } from '../relay-error.ts';
import { type FailedTool, readDefinitions } from './read-definitions.ts';
import type { Registration, ToolsUpdate } from './registration-body.ts';
import { definitionText, pinDefinitions } from './tool-pins.ts';

/** Most characters of all definitions of a session, as JSON. */
const maxDefinitionChars = 4 * 1_048_576;

/** Most characters of the definitions that are kept of removed tools, as JSON. */
const maxGoneChars = 65_536;

/** What both need to know. */
export interface RegistrationOptions {
  /** Now, in epoch milliseconds. */
  readonly at: number;
  /**
   * The name that stands in the way of one that an application gives: the same, or one that it
   * could be taken for. Undefined where it is free.
   */
  readonly taken: (name: string) => string | undefined;
  /** Most tools of a session. */
  readonly maxTools: number;
  /** A name keeps the first definition it ever had. */
  readonly pinDefinitions: boolean;
}

/** The names whose definitions truly changed; each is in one list at most. */
export interface ToolsChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly modified: readonly string[];
}

/** Of `POST /:code/register-tools`. */
export interface RegistrationResponse {
  readonly success: true;
  /** In the order in which they were given. */
  readonly registeredTools: readonly string[];
  readonly failedTools: readonly FailedTool[];
  readonly sessionConfiguration: {
    /** With those that stayed as they were pinned. */
    readonly toolCount: number;
    readonly capabilities: readonly JsonValue[];
    readonly environment: JsonObject;
  };
}

/** Of `POST /:code/update-tools`. */
export interface UpdateResponse extends ToolsChange {
  /** False where nothing of it could be done. */
  readonly success: boolean;
  /** Names to remove or modify that there are not. */
  readonly notFound: readonly string[];
  readonly failedTools: readonly FailedTool[];
}

/** What came of it. */
export interface Registered<Response> {
  /** `before` itself where nothing changed. */
  readonly document: ToolsDocument;
  readonly change: ToolsChange;
  readonly response: Response;
}

/**
 * Registers: the list replaces what was there. A definition that is refused because another is
 * pinned leaves that one standing; any other failure leaves its tool out.
 * @throws RelayError 413 `too_many_tools`; 422 `registration_failed` with `failedTools` where none
 * can be taken: everything stays as it was
 */
export async function registerTools(
  before: ToolsDocument | undefined,
  registration: Registration,
  options: RegistrationOptions,
): Promise<Registered<RegistrationResponse>> {
  const { pluginType, pluginVersion, capabilities, environment, availableTools } = registration;
  refuseTooMany('availableTools', availableTools.length, options);
  const read = await readDefinitions(availableTools, { taken: options.taken });
  const pinned = pinIf(options.pinDefinitions, read.definitions, before);
  const failedTools = [...read.failed, ...pinned.failed];
  if (pinned.definitions.length === 0)
    throw relayError(
      422,
      'registration_failed',
      `None of the ${availableTools.length} tools can be registered; \`failedTools\` says why.`,
      {
        details: { failedTools: failedTools.map((one) => ({ ...one })) },
      },
    );
  const taken = new Map(pinned.definitions.map((one) => [one.name, one]));
  const standing = mapOf(before);
  // In the order of the list, the pinned ones in the places of those refused.
  const definitions = read.definitions.flatMap(
    ({ name }) => taken.get(name) ?? standing.get(name) ?? [],
  );
  const { document, change } = succeed(
    before,
    { pluginType, pluginVersion, capabilities, environment, definitions, ...pinned.pins },
    options.at,
    true,
  );
  return {
    document,
    change,
    response: {
      success: true,
      registeredTools: [...taken.keys()],
      failedTools,
      sessionConfiguration: { toolCount: definitions.length, capabilities, environment },
    },
  };
}

/**
 * Updates: removes, then modifies, then adds. What is added under a name that there is replaces it,
 * as if modified; what fails leaves the old definition standing. A list that is longer than a
 * session may have tools is refused as a whole; where only the sum is too large, those beyond it
 * fail.
 * @throws RelayError 409 `no_tools_registered`; 413 `too_many_tools`
 */
export async function updateTools(
  before: ToolsDocument | undefined,
  update: ToolsUpdate,
  options: RegistrationOptions,
): Promise<Registered<UpdateResponse>> {
  if (before === undefined)
    throw relayError(
      409,
      'no_tools_registered',
      'This session has no tools yet. Register with register-tools before you update.',
    );
  refuseTooMany('added` and `modified', update.added.length + update.modified.length, options);
  refuseTooMany('removed', update.removed.length, options);
  const tools = mapOf(before);
  const notFound = new Set<string>();
  const removed = new Set(update.removed);
  for (const name of removed) if (!tools.delete(name)) notFound.add(name);
  const known = update.modified.filter((one) => {
    const name = isJsonObject(one) ? one.name : undefined;
    if (typeof name !== 'string' || tools.has(name)) return true;
    notFound.add(name);
    return false;
  });
  const read = await readDefinitions([...known, ...update.added], {
    taken: options.taken,
    kept: [...tools.values()],
  });
  const pinned = pinIf(options.pinDefinitions, read.definitions, before);
  const beyond = addWithin(tools, pinned.definitions, options.maxTools);
  const failedTools = [...read.failed, ...pinned.failed, ...beyond];
  // What found no room was never registered.
  const first = new Set(
    beyond
      .map(({ toolName }) => toolName)
      .filter((name) => !Object.hasOwn(before.pins ?? {}, name)),
  );
  const pins =
    pinned.pins.pins === undefined
      ? {}
      : {
          pins: Object.fromEntries(
            Object.entries(pinned.pins.pins).filter(([name]) => !first.has(name)),
          ),
        };
  const { document, change } = succeed(
    before,
    { ...contentOf(before), definitions: [...tools.values()], ...pins },
    options.at,
    false,
  );
  const success =
    update.removed.some((name) => !notFound.has(name)) || pinned.definitions.length > beyond.length;
  return {
    document,
    change,
    response: { success, ...change, notFound: [...notFound], failedTools },
  };
}

/**
 * Puts definitions in their places, as long as there is room. @returns those that there was none
 * for
 */
function addWithin(
  tools: Map<string, RelayedDefinition>,
  definitions: readonly RelayedDefinition[],
  maxTools: number,
): FailedTool[] {
  let chars = 0;
  for (const one of tools.values()) chars += sizeOf(one);
  return definitions.flatMap((definition) => {
    const { name } = definition;
    const old = tools.get(name);
    if (old === undefined && tools.size >= maxTools)
      return {
        toolName: name,
        error:
          `too_many_tools: this session has ${maxTools} tools, the most it may have. Remove ` +
          'others first.',
        recoverable: true,
      };
    const grown = chars + sizeOf(definition) - (old === undefined ? 0 : sizeOf(old));
    if (grown > maxDefinitionChars)
      return {
        toolName: name,
        error:
          'too_many_tools: all definitions of this session would have more than ' +
          `${maxDefinitionChars} characters. Remove others first.`,
        recoverable: true,
      };
    chars = grown;
    tools.set(name, definition);
    return [];
  });
}

function sizeOf(definition: RelayedDefinition): number {
  return JSON.stringify(definition).length;
}

function pinIf(
  pin: boolean,
  definitions: readonly RelayedDefinition[],
  before: ToolsDocument | undefined,
): {
  definitions: readonly RelayedDefinition[];
  failed: readonly FailedTool[];
  pins: { pins?: Record<string, string> };
} {
  if (!pin) return { definitions, failed: [], pins: {} };
  const pinned = pinDefinitions(definitions, before?.pins);
  return { ...pinned, pins: { pins: pinned.pins } };
}

type Content = Omit<ToolsDocument, 'revision' | 'registeredAt' | 'updatedAt' | 'gone'>;

function contentOf({
  revision: _,
  registeredAt: _registeredAt,
  updatedAt: _updatedAt,
  gone: _gone,
  ...content
}: ToolsDocument): Content {
  return content;
}

/** The next document, or the one before where the content is the same. */
function succeed(
  before: ToolsDocument | undefined,
  content: Content,
  at: number,
  registered: boolean,
): { readonly document: ToolsDocument; readonly change: ToolsChange } {
  const change = differenceOf(
    mapOf(before),
    new Map(content.definitions.map((one) => [one.name, one])),
  );
  if (before !== undefined && isSame(before, content, change)) return { document: before, change };
  const { revision = 0, registeredAt = at } = before ?? {};
  const gone = goneOf(before, content.definitions);
  const kept = gone.length === 0 ? {} : { gone };
  return {
    document: {
      ...content,
      ...kept,
      revision: revision + 1,
      registeredAt: registered ? at : registeredAt,
      updatedAt: at,
    },
    change,
  };
}

/** Those that went last, as many as there is room for. */
function goneOf(
  before: ToolsDocument | undefined,
  definitions: readonly RelayedDefinition[],
): readonly RelayedDefinition[] {
  const there = new Set(definitions.map(({ name }) => name));
  const gone = [...(before?.gone ?? []), ...(before?.definitions ?? [])].filter(
    ({ name }) => !there.has(name),
  );
  let chars = 0;
  const from = gone.findLastIndex((one) => {
    chars += sizeOf(one);
    return chars > maxGoneChars;
  });
  return gone.slice(from + 1);
}

function isSame(
  before: ToolsDocument,
  content: Content,
  { added, removed, modified }: ToolsChange,
): boolean {
  if (added.length + removed.length + modified.length > 0) return false;
  if (!content.definitions.every(({ name }, index) => before.definitions[index]?.name === name))
    return false;
  const rest = ({
    pluginType,
    pluginVersion,
    capabilities,
    environment,
    pins = {},
  }: Content): string =>
    canonicalJson({ pluginType, pluginVersion, capabilities, environment, pins });
  return rest(before) === rest(content);
}

function differenceOf(
  before: ReadonlyMap<string, RelayedDefinition>,
  after: ReadonlyMap<string, RelayedDefinition>,
): ToolsChange {
  const added: string[] = [];
  const modified: string[] = [];
  for (const [name, definition] of after) {
    const old = before.get(name);
    if (old === undefined) added.push(name);
    else if (old !== definition && definitionText(old) !== definitionText(definition))
      modified.push(name);
  }
  return { added, removed: [...before.keys()].filter((name) => !after.has(name)), modified };
}

function mapOf(document: ToolsDocument | undefined): Map<string, RelayedDefinition> {
  return new Map(document?.definitions.map((one) => [one.name, one]));
}

function refuseTooMany(field: string, count: number, { maxTools }: RegistrationOptions): void {
  if (count > maxTools)
    throw relayError(
      413,
      'too_many_tools',
      `Expected at most ${maxTools} tools in \`${field}\`, got ${count}.`,
    );
}
