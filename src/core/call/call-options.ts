/**
 * Reads and checks the options of one call. Only own members count, and each is read once. A call
 * never throws, so a wrong option ends it with a failed result.
 */

import type { CallOptions, Surface } from '../../api/context.ts';
import { describe, messageOf, type ToolError, toolError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { abortSignal, suggestion } from '../../values/options/index.ts';
import type { Call } from './call.ts';

/**
 * Lets other code run a call. Called once, after all gates have allowed the call, with a copy of
 * what may run. Resolves to what a handler would return.
 */
export type Elsewhere = (call: Call, input: JsonObject) => Promise<unknown>;

/** The options that a call keeps. */
export interface ReadCallOptions {
  readonly callId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number | undefined;
  readonly idempotencyKey: string | undefined;
  readonly resourceKey: string | undefined;
  readonly surface: Surface | undefined;
  /** Present if other code runs the tool, or if the caller only wants a decision. */
  readonly elsewhere?: Elsewhere | 'explained' | undefined;
  /** The library itself calls an internal tool. */
  readonly inside?: true | undefined;
  /** The first wrong option. The call ends with this error. */
  readonly fault: ToolError | undefined;
}

const known = [
  'callId',
  'signal',
  'timeoutMs',
  'idempotencyKey',
  'resourceKey',
  'surface',
] as const;

const surfaceMembers = [
  'name',
  'source',
  'outside',
  'approver',
  'client',
  'exposeErrors',
  'strictNulls',
  'shownName',
  'started',
  'traceContext',
  'scopes',
  'unasked',
] as const satisfies readonly (keyof Surface)[];

/** What a call has without options. */
export const noOptions = Object.freeze({
  callId: undefined,
  signal: undefined,
  timeoutMs: undefined,
  idempotencyKey: undefined,
  resourceKey: undefined,
  surface: undefined,
  fault: undefined,
}) satisfies ReadCallOptions;

type Draft = { -readonly [K in keyof ReadCallOptions]: ReadCallOptions[K] };

/** The options of a call of which only the adapter is known. */
export function optionsVia(
  surface: string | undefined,
  elsewhere?: 'explained',
): ReadCallOptions | undefined {
  return surface === undefined && elsewhere === undefined
    ? undefined
    : {
        ...noOptions,
        surface: surface === undefined ? undefined : { name: surface },
        elsewhere,
      };
}

/**
 * The options of a resumed call. Rules about surfaces and scopes judge it as they did when it was
 * suspended, whichever adapter the answer comes through.
 * @param name The adapter that the suspended call came through.
 * @param scopes Those of the request that made it.
 */
export function withSurface(
  given: ReadCallOptions | undefined,
  name: string | undefined,
  scopes: readonly string[] | undefined,
): ReadCallOptions | undefined {
  if (name === undefined && scopes === undefined) return given;
  const options = (given ?? optionsVia('')) as ReadCallOptions;
  const surface = { name: '', ...options.surface };
  return {
    ...options,
    surface: { ...surface, name: name ?? surface.name, scopes: scopes ?? surface.scopes },
  };
}

/** Reads options that were written for this library, so an unknown option is a mistake. */
export function readCallOptions(options: CallOptions | undefined): ReadCallOptions | undefined {
  return options === undefined || options === null ? undefined : read(options, true);
}

/**
 * Reads the options that a bound tool or a handler passes. Only adapters may set `surface`, because
 * its approver could approve the call, so it is left out here.
 * @param strict Whether unknown options are refused. A runtime that holds a bound tool may pass its
 * own options.
 */
export function readToolOptions(
  options: CallOptions | undefined,
  strict: boolean,
): ReadCallOptions | undefined {
  if (options === undefined || options === null) return undefined;
  return { ...read(options, strict), surface: undefined };
}

function read(options: object, strict: boolean): ReadCallOptions {
  const draft: Draft = { ...noOptions };
  if (typeof options !== 'object') {
    draft.fault = invalid(`Expected the call's options to be an object, got ${describe(options)}.`);
    return draft;
  }
  try {
    for (const key of Object.keys(options)) {
      if ((known as readonly string[]).includes(key))
        (draft as Record<string, unknown>)[key] = (options as Record<string, unknown>)[key];
      else if (strict)
        draft.fault ??= invalid(
          `Unknown option of a call: \`${key.slice(0, 60)}\`${suggestion(key, known)}`,
        );
    }
    if (draft.surface !== undefined) draft.surface = readSurface(draft.surface, draft);
    draft.fault ??= wrongOption(draft);
  } catch (error) {
    draft.fault ??= invalid(`The call's options could not be read: ${messageOf(error)}`);
  }
  // An invalid signal must not be used while the call ends.
  if (draft.fault !== undefined) draft.signal = undefined;
  return draft;
}

function wrongOption({
  timeoutMs,
  signal,
  resourceKey,
  idempotencyKey,
  surface,
}: Draft): ToolError | undefined {
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0))
    return refuse('timeoutMs', 'a number of milliseconds above 0', timeoutMs);
  if (signal !== undefined && !abortSignal.accepts(signal))
    return refuse('signal', 'an AbortSignal', signal);
  if (resourceKey !== undefined && typeof resourceKey !== 'string')
    return refuse('resourceKey', 'a string', resourceKey);
  // A blank key was probably lost. All calls that lost their keys would count as one.
  if (idempotencyKey !== undefined && !isNonBlank(idempotencyKey))
    return refuse('idempotencyKey', 'a non-blank string', idempotencyKey);
  if (surface !== undefined && typeof surface.name !== 'string')
    return refuse('surface.name', 'a string', surface.name);
  const isApp = surface?.name === 'app';
  if (isApp ? !isNonBlank(surface.source) : surface?.source !== undefined)
    return isApp
      ? refuse('surface.source', 'the source of the app, such as `mcp:charts`', surface.source)
      : refuse('surface.source', 'left out, since only the surface `app` has one', surface?.source);
  if (surface?.scopes !== undefined && !Array.isArray(surface.scopes))
    return refuse('surface.scopes', 'an array of strings', surface.scopes);
  return undefined;
}

function isNonBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() !== '';
}

/** Reads own members only, so that an approver on `Object.prototype` has no effect. */
function readSurface(surface: unknown, draft: Draft): Surface {
  if (typeof surface !== 'object' || surface === null) return { name: surface as string };
  const unknown = Object.keys(surface).find(
    (key) => !(surfaceMembers as readonly string[]).includes(key),
  );
  if (unknown !== undefined)
    draft.fault ??= invalid(
      `Unknown member of a call's \`surface\`: ` +
        `\`${unknown.slice(0, 60)}\`${suggestion(unknown, surfaceMembers)}`,
    );
  const own: { [K in keyof Surface]: Surface[K] } = Object.assign(Object.create(null), surface);
  const { name, source, outside, approver, client, exposeErrors, strictNulls, shownName, started } =
    own;
  const { traceContext, scopes, unasked } = own;
  return {
    name,
    source,
    outside,
    approver,
    client,
    exposeErrors,
    // Any other value is no wish.
    strictNulls:
      strictNulls === true || typeof strictNulls === 'function' ? strictNulls : undefined,
    shownName,
    started,
    traceContext,
    scopes,
    unasked: unasked === true,
  };
}

function refuse(option: string, expected: string, got: unknown): ToolError {
  return invalid(
    `Expected the call's option \`${option}\` to be ${expected}, got ${describe(got)}.`,
  );
}

function invalid(message: string): ToolError {
  return toolError('invalid_input', message, { reason: 'invalid_option' });
}
