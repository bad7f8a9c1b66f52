/**
 * Applies registrations and updates to the tools of a session's application: pure functions that
 * make the next document from the previous one.
 */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import type { Pause } from '../../../values/limits/stretches.ts';
import type { RelayedDefinition, ToolsDocument } from '../ports/documents.ts';
import { type RelayError, relayError } from '../relay-error.ts';
import {
  contentOf,
  definitionsByName,
  nextDocument,
  sizeOf,
  type ToolsChange,
} from './next-document.ts';
import {
  definitionPause,
  type FailedTool,
  readDefinitions,
  type ToolWarning,
} from './read-definitions.ts';
import type { Registration, ToolsUpdate } from './registration-body.ts';
import { pinDefinitions } from './tools-document.ts';

/** Most characters of all definitions of a session, as JSON. */
const maxDefinitionChars = 4 * 1_048_576;

/** Options of {@link registerTools} and {@link updateTools}. */
export interface RegistrationOptions {
  /** Now, in epoch milliseconds. */
  readonly at: number;
  /**
   * The host's tool that conflicts with a name: it has the same name or one that looks like it.
   * Undefined when the name is free.
   */
  readonly taken: (name: string) => string | undefined;
  /** Most tools of a session. */
  readonly maxTools: number;
  /** Whether a name keeps its first definition for the whole session. */
  readonly pinDefinitions: boolean;
}

/** The answer to `POST /:code/register-tools`. */
export interface RegistrationResponse {
  readonly success: true;
  /** In the order in which they were given. */
  readonly registeredTools: readonly string[];
  readonly failedTools: readonly FailedTool[];
  /** What the relay does not check in the tools that it accepted. Absent if there is nothing. */
  readonly warnings?: readonly ToolWarning[];
  readonly sessionConfiguration: {
    /** Including pinned tools that kept their former definition. */
    readonly toolCount: number;
    readonly capabilities: readonly JsonValue[];
    readonly environment: JsonObject;
    readonly constraints: JsonObject;
  };
}

/** The answer to `POST /:code/update-tools`. */
export interface UpdateResponse extends ToolsChange {
  /** False if nothing of the update could be done. */
  readonly success: boolean;
  /** Names to remove or modify that the session does not have. */
  readonly notFound: readonly string[];
  readonly failedTools: readonly FailedTool[];
  /** See {@link RegistrationResponse}. */
  readonly warnings?: readonly ToolWarning[];
}

/** The outcome of a registration or an update. */
export interface Registered<Response> {
  /** `before` itself if nothing has changed. */
  readonly document: ToolsDocument;
  readonly change: ToolsChange;
  readonly response: Response;
}

/**
 * Registers tools: the list replaces the former ones. A definition that differs from a pinned one
 * is refused, and the pinned one stays. A tool with any other fault is left out.
 * @throws RelayError 413 `too_many_tools`; 422 `registration_failed` with `failedTools` when no
 * tool can be registered, and then nothing changes
 */
export async function registerTools(
  before: ToolsDocument | undefined,
  registration: Registration,
  options: RegistrationOptions,
): Promise<Registered<RegistrationResponse>> {
  const {
    pluginType,
    pluginVersion,
    capabilities,
    environment,
    constraints = {},
    availableTools,
  } = registration;
  refuseTooMany('availableTools', availableTools.length, options);
  const pause = definitionPause();
  const read = await readDefinitions(availableTools, { taken: options.taken, pause });
  const pinned = await pinIf(options.pinDefinitions, read.definitions, before, pause);
  const failedTools = [...read.failed, ...pinned.failed];
  if (pinned.definitions.length === 0) throw noneRegistered(availableTools.length, failedTools);
  const taken = new Map(pinned.definitions.map((one) => [one.name, one]));
  const former = definitionsByName(before);
  // The order is that of the list. A pinned definition takes the place of a refused one.
  const definitions = read.definitions.flatMap(
    ({ name }) => taken.get(name) ?? former.get(name) ?? [],
  );
  const { document, change } = await nextDocument(
    before,
    {
      pluginType,
      pluginVersion,
      capabilities,
      environment,
      ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
      definitions,
      ...pinned.pins,
    },
    { at: options.at, registered: true, pause },
  );
  return {
    document,
    change,
    response: {
      success: true,
      registeredTools: [...taken.keys()],
      failedTools,
      ...warningsAbout(pinned.definitions, read.warnings),
      sessionConfiguration: {
        toolCount: definitions.length,
        capabilities,
        environment,
        constraints,
      },
    },
  };
}

/** The warnings about tools that were accepted. */
function warningsAbout(
  accepted: readonly RelayedDefinition[],
  all: readonly ToolWarning[],
): { warnings?: readonly ToolWarning[] } {
  const names = new Set(accepted.map(({ name }) => name));
  const warnings = all.filter(({ toolName }) => names.has(toolName));
  return warnings.length === 0 ? {} : { warnings };
}

function noneRegistered(count: number, failedTools: readonly FailedTool[]): RelayError {
  return relayError(
    422,
    'registration_failed',
    `None of the ${count} tools can be registered. \`failedTools\` says why.`,
    { details: { failedTools: failedTools.map((one) => ({ ...one })) } },
  );
}

/**
 * Updates tools: removes, then modifies, then adds. Adding an existing name replaces its
 * definition, as modifying does. If a definition fails, the former one stays. An update that alone
 * has more tools than a session may have is refused as a whole. If only the sum is too large, the
 * tools beyond the limit fail.
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
      'This session has no tools yet. Register tools with `register-tools` first.',
    );
  refuseTooMany('added` and `modified', update.added.length + update.modified.length, options);
  refuseTooMany('removed', update.removed.length, options);
  const tools = definitionsByName(before);
  const notFound = new Set<string>();
  const removed = new Set(update.removed);
  for (const name of removed) if (!tools.delete(name)) notFound.add(name);
  const known = update.modified.filter((one) => {
    const name = isJsonObject(one) ? one.name : undefined;
    if (typeof name !== 'string' || tools.has(name)) return true;
    notFound.add(name);
    return false;
  });
  const pause = definitionPause();
  const read = await readDefinitions([...known, ...update.added], {
    taken: options.taken,
    kept: [...tools.values()],
    pause,
  });
  const pinned = await pinIf(options.pinDefinitions, read.definitions, before, pause);
  const beyond = addWithin(tools, pinned.definitions, options.maxTools);
  const failedTools = [...read.failed, ...pinned.failed, ...beyond];
  const pins = pinsWithin(pinned.pins, beyond, before);
  const { document, change } = await nextDocument(
    before,
    { ...contentOf(before), definitions: [...tools.values()], ...pins },
    { at: options.at, registered: false, pause },
  );
  const success =
    update.removed.some((name) => !notFound.has(name)) || pinned.definitions.length > beyond.length;
  return {
    document,
    change,
    response: {
      success,
      ...change,
      notFound: [...notFound],
      failedTools,
      ...warningsAbout(
        pinned.definitions.filter((one) => tools.get(one.name) === one),
        read.warnings,
      ),
    },
  };
}

/** Tools beyond the limit were never registered, so they are not pinned. */
function pinsWithin(
  { pins }: { readonly pins?: Readonly<Record<string, string>> },
  beyond: readonly FailedTool[],
  before: ToolsDocument,
): { pins?: Record<string, string> } {
  if (pins === undefined) return {};
  const first = new Set(
    beyond
      .map(({ toolName }) => toolName)
      .filter((name) => !Object.hasOwn(before.pins ?? {}, name)),
  );
  return { pins: Object.fromEntries(Object.entries(pins).filter(([name]) => !first.has(name))) };
}

/** Adds or replaces definitions up to the limits. @returns a failure for each one beyond them */
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
          `too_many_tools: this session already has ${maxTools} tools, the maximum. Remove other ` +
          'tools first.',
        recoverable: true,
      };
    const grown = chars + sizeOf(definition) - (old === undefined ? 0 : sizeOf(old));
    if (grown > maxDefinitionChars)
      return {
        toolName: name,
        error:
          'too_many_tools: the definitions of this session would have more than ' +
          `${maxDefinitionChars} characters. Remove other tools first.`,
        recoverable: true,
      };
    chars = grown;
    tools.set(name, definition);
    return [];
  });
}

async function pinIf(
  pin: boolean,
  definitions: readonly RelayedDefinition[],
  before: ToolsDocument | undefined,
  pause: Pause,
): Promise<{
  definitions: readonly RelayedDefinition[];
  failed: readonly FailedTool[];
  pins: { pins?: Record<string, string> };
}> {
  if (!pin) return { definitions, failed: [], pins: {} };
  const pinned = await pinDefinitions(definitions, before?.pins, pause);
  return { ...pinned, pins: { pins: pinned.pins } };
}

function refuseTooMany(field: string, count: number, { maxTools }: RegistrationOptions): void {
  if (count > maxTools)
    throw relayError(
      413,
      'too_many_tools',
      `Expected at most ${maxTools} tools in \`${field}\`, got ${count}.`,
    );
}
