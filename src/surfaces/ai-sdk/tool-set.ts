/** A session's effective tools as the AI SDK's `ToolSet`. */

import {
  type AnyTool,
  type HostTool,
  MisuseError,
  type Surface,
  serializeOutput,
  type ToolResult,
  type ToolSession,
} from '../../core.ts';
import { readArguments } from '../../values/json/value.ts';
import { deferredListing } from '../shared/deferred.ts';
import {
  type Dialect,
  type Listing,
  listingOf,
  type ShownTool,
  type SurfaceWarning,
} from '../shared/listing.ts';
import { givenArguments } from '../shared/payload.ts';
import { takeDenials } from './asked.ts';
import { execute, needsApproval, type Run } from './execute.ts';
import { type AiSdkOptions, type ReadAiSdkOptions, readAiSdkOptions } from './options.ts';
import {
  type AiSdkMessage,
  failureError,
  markedResult,
  modelOutput,
  withOutcomes,
  withPreliminary,
  yields,
} from './outcomes.ts';
import {
  type AiSdkResult,
  type AiSdkTool,
  type AiSdkToolSet,
  typedName,
  wrapSchema,
} from './tool.ts';

/** The tools for the SDK. Frozen, and the same object until the effective tools change. */
export interface AiSdkTools<Tools extends readonly AnyTool[] | undefined = undefined> {
  /**
   * For `tools` of `generateText`, `streamText` and agents. It has no prototype, so that a call to
   * `constructor` finds no tool.
   */
  readonly tools: AiSdkToolSet<Tools>;
  /** Maps each shown name to the tool's name. */
  readonly nameMap: ReadonlyMap<string, string>;
  /** Patterns that were left out, because some providers refuse them. */
  readonly warnings: readonly SurfaceWarning[];
  /**
   * For the SDK's `repairToolCall` (`experimental_repairToolCall` in version 6). It repairs
   * nothing. It records calls that the SDK never passes to a tool, with an unknown name or with
   * arguments that are not JSON, and answers them with the session's message.
   */
  readonly repairToolCall: (attempt: {
    readonly toolCall: {
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: string;
    };
  }) => Promise<null>;
  /**
   * Reports rejected approvals to the session. The SDK answers a rejected call itself and does not
   * inform the tool, so the call would wait until it expires. Call it with the messages before each
   * run. With `approvals: "sdk"` it also runs at each call.
   */
  readonly takeDenials: (messages: readonly unknown[]) => Promise<void>;
  /**
   * Returns the messages of a chat with the results of suspended calls that have ended since, in
   * this or another process, in the place of `approval_pending`. Calls that still wait stay as they
   * are. Call it before each run with the messages of the SDK's UI, such as those of `useChat`, and
   * show what it returns. The messages are not trusted: only approvals of this session id and
   * principal have a result here. Rejects if the store fails.
   */
  readonly withOutcomes: <M extends AiSdkMessage>(messages: readonly M[]) => Promise<M[]>;
  /**
   * With `defer`, for the SDK's `prepareStep`: which of the tools the model is shown at a step.
   * Without `defer` it changes nothing.
   */
  readonly prepareStep: () => {
    /** The names of the tools that the session lists now. Absent without `defer`. */
    activeTools?: (keyof AiSdkToolSet<Tools> & string)[];
  };
}

const dialect: Dialect = { convert: (schema) => ({ schema, losses: [] }) };
const made = new WeakMap<Listing, Map<string, AiSdkTools>>();

/**
 * Returns a session's effective tools for the AI SDK, version 6 or 7. A failed call is a result
 * with an error text for the model.
 * @throws MisuseError `invalid_option` for unknown options, for `approvals: "sdk"` on a session
 * with an approver, for `defer` on a session without discovery, and for a definition in `tools`
 * whose shown name differs from its type; `unknown_tool` for a definition that the session does not
 * know.
 *
 * @example
 * ```ts
 * import { generateText, type LanguageModel, stepCountIs } from 'ai';
 * import { toAiSdkTools } from 'host-tools/ai-sdk';
 *
 * declare const model: LanguageModel; // yours
 * // `add` types the results. Leave `tools` out to show every tool of the session, untyped.
 * const { tools, repairToolCall } = toAiSdkTools(session, { tools: [add] });
 * const { text } = await generateText({
 *   model,
 *   tools,
 *   prompt: 'What is 1 + 2?',
 *   stopWhen: stepCountIs(5),
 *   experimental_repairToolCall: repairToolCall,
 * });
 * ```
 */
export function toAiSdkTools<const Tools extends readonly AnyTool[] | undefined = undefined>(
  session: ToolSession,
  options?: AiSdkOptions<Tools>,
): AiSdkTools<Tools> {
  const read = readAiSdkOptions(session, options);
  const listing =
    read.defer === undefined
      ? listingOf(session, dialect)
      : deferredListing(session, dialect, 'toAiSdkTools');
  const known = made.get(listing) ?? new Map<string, AiSdkTools>();
  made.set(listing, known);
  const key = JSON.stringify(read);
  const set = known.get(key) ?? makeSet(session, listing, read);
  known.set(key, set);
  return set as AiSdkTools<Tools>;
}

function makeSet(
  session: ToolSession,
  listing: Listing,
  { approvals, failures, names, defer }: ReadAiSdkOptions,
): AiSdkTools {
  const surface: Surface = Object.freeze({ name: 'ai-sdk', shownName: listing.shownName });
  const run: Run = {
    session,
    approvals,
    surface,
    seen: new WeakMap(),
    heard: new WeakSet(),
    tagged: false,
  };
  const shown = names === undefined ? listing.shown : chosen(listing, names);
  // Without a prototype: version 6 does not check whether a name is inherited.
  const tools: Record<string, AiSdkTool> = Object.create(null) as Record<string, AiSdkTool>;
  const typed = names !== undefined;
  for (const one of shown) tools[one.name] = toTool(run, one, failures, typed);
  // Not enumerable, so the SDK shows them to no model. It finds them if a model calls one anyway,
  // and the session's refusal is then a result like that of any other call.
  for (const one of hiddenOf(session, listing, names))
    if (!Object.hasOwn(tools, one.name))
      Object.defineProperty(tools, one.name, { value: toTool(run, one, failures, typed) });
  Object.freeze(tools);
  return Object.freeze({
    tools: defer === undefined ? tools : inListedOrder(session, tools),
    nameMap:
      names === undefined
        ? listing.nameMap
        : new Map(shown.map(({ name, tool }) => [name, tool.name])),
    warnings: listing.warnings,
    repairToolCall: (attempt) => recordUnseen(session, listing, surface, attempt.toolCall),
    takeDenials: (messages) => takeDenials(session, messages, true),
    withOutcomes: (messages) => withOutcomes(session, messages),
    prepareStep: () => (defer === undefined ? {} : { activeTools: listedOf(session, tools) }),
  } satisfies AiSdkTools);
}

/**
 * The same tools, in an object whose keys follow the session's listing. The SDK shows a model its
 * tools in the order of the keys, so found tools come after everything that was shown before.
 */
function inListedOrder(
  session: ToolSession,
  tools: Readonly<Record<string, AiSdkTool>>,
): Record<string, AiSdkTool> {
  return new Proxy(tools, {
    ownKeys: (all) => [...new Set([...listedOf(session, all), ...Reflect.ownKeys(all)])],
  });
}

/** The names of the tools that the session lists now. */
function listedOf(session: ToolSession, tools: Readonly<Record<string, AiSdkTool>>): string[] {
  const { shown } = listingOf(session, dialect);
  return shown.flatMap(({ name }) => (isEnumerable.call(tools, name) ? [name] : []));
}

const { propertyIsEnumerable: isEnumerable } = Object.prototype;

/** What a tool of the SDK is made from. */
interface Offered {
  readonly name: string;
  readonly tool: Pick<HostTool, 'name' | 'description' | 'title' | 'outputSchema'> &
    Partial<Pick<HostTool, 'source' | 'annotations'>>;
  readonly schema: ShownTool['schema'];
}

/** The hidden tools by shown name. Nothing of their definitions is told. */
function hiddenOf(
  session: ToolSession,
  { known }: Listing,
  names: readonly string[] | undefined,
): Offered[] {
  const hidden = new Set(session.effectiveTools().dropped.map(({ name }) => name));
  return [...known]
    .filter(([, tool]) => hidden.has(tool) && (names === undefined || names.includes(tool)))
    .map(([name, tool]) => ({
      name,
      tool: { name: tool, description: 'Not available.' },
      schema: { type: 'object' },
    }));
}

/** The tools of these names, in effective order. @throws MisuseError if a type would be wrong. */
function chosen({ shown, shownName }: Listing, names: readonly string[]): readonly ShownTool[] {
  for (const name of names)
    if (shownName(name) !== typedName(name))
      throw new MisuseError(
        'invalid_option',
        `toAiSdkTools: \`${name}\` is shown as \`${shownName(name)}\`, because its name is too ` +
          `long or clashes with another tool's, but \`tools\` would type it as ` +
          `\`${typedName(name)}\`. Rename the tool, or leave it out of \`tools\`.`,
      );
  return shown.filter(({ tool }) => names.includes(tool.name));
}

function toTool(
  run: Run,
  { tool, schema }: Offered,
  failures: 'results' | 'errors',
  typed: boolean,
): AiSdkTool {
  const { name, description, title, source, annotations, outputSchema } = tool;
  const { session } = run;
  const declared = outputSchema !== undefined;
  const finished = (result: ToolResult): AiSdkResult => {
    if (failures === 'errors' && !result.success)
      throw failureError(serializeOutput(result), result);
    return markedResult(result);
  };
  return Object.freeze({
    ...(typed ? {} : { type: 'dynamic' }),
    description,
    ...(title === undefined ? {} : { title }),
    metadata: {
      hostTool: source === undefined ? { name } : { name, source, annotations: { ...annotations } },
    },
    inputSchema: wrapSchema(schema),
    ...(run.approvals === 'sdk'
      ? { needsApproval: (input, call) => needsApproval(run, tool, input, call) }
      : {}),
    execute: (input, call) => {
      const running = (): Promise<AiSdkResult> => execute(run, tool, input, call).then(finished);
      return yields(session, name) ? withPreliminary(session, call.toolCallId, running) : running();
    },
    toModelOutput: ({ output }) => modelOutput(output, declared, run.tagged),
  } satisfies Omit<AiSdkTool, 'type'>) as AiSdkTool;
}

/** Records a call without running it: the SDK takes only an error here, not a result. */
async function recordUnseen(
  session: ToolSession,
  { known }: Listing,
  surface: Surface,
  {
    toolCallId: callId,
    toolName,
    input,
  }: { readonly toolCallId: string; readonly toolName: string; readonly input: string },
): Promise<null> {
  const name = known.get(toolName) ?? toolName;
  const sent = readArguments(givenArguments(input));
  // A call with readable arguments could run, and a tool that was registered later is not shown
  // here. For both the SDK's own message is enough.
  if (session.tool(name) !== undefined && (known.get(toolName) === undefined || sent !== input))
    return null;
  const result = await session.call(name, sent, { callId, surface });
  if (result.success) return null;
  // The SDK's own prefix already says that this is an error.
  throw failureError(serializeOutput(result).replace(/^Error: /, ''), result);
}
