/** Answers requests about the prompts and resources that a gateway passes on. */
import type { Server, ServerCapabilities, ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../core.ts';
import type { PassedList, PassedOn } from '../passed-on.ts';
import type { Sdk } from './sdk.ts';

type Params = Readonly<Record<string, unknown>>;
type Handle = (params: Params, ctx: ServerContext) => Promise<JsonObject>;

/** What a server declares: always tools and logging, what is passed on, and pages of apps. */
export function capabilitiesWith(
  passed: PassedOn | undefined,
  hasPages: boolean,
): ServerCapabilities {
  const capabilities: ServerCapabilities = { tools: { listChanged: true }, logging: {} };
  if (passed?.prompts === true) capabilities.prompts = { listChanged: true };
  if (passed?.resources === true || hasPages) capabilities.resources = { listChanged: true };
  return capabilities;
}

/** The pages of apps that a client may read. */
export interface ReadablePages {
  list(ctx: ServerContext): Promise<readonly JsonObject[]>;
  read(uri: string, ctx: ServerContext): Promise<JsonObject | undefined>;
}

/**
 * Registers the handlers for what is passed on, and for the pages of apps.
 * @param register registers one handler, whose parameters are not checked
 */
export function answerPassedOn(
  sdk: Sdk,
  passed: PassedOn | undefined,
  pages: ReadablePages | undefined,
  register: (method: string, handle: Handle) => void,
): void {
  const passedResources = passed?.resources === true ? passed : undefined;
  const list = (method: string, which: PassedList): void =>
    register(method, async (_, ctx) => {
      const own = which === 'resources' ? ((await pages?.list(ctx)) ?? []) : [];
      const taken = new Set(own.map(({ uri }) => uri));
      const others = await (which === 'prompts' ? passed : passedResources)?.list(which);
      return { [which]: [...own, ...(others ?? []).filter(({ uri }) => !taken.has(uri))] };
    });
  const refused = (message: string, data?: JsonObject): Error =>
    new sdk.ProtocolError(sdk.INVALID_PARAMS, message, data);
  const one = async (
    ask: () => Promise<JsonObject | undefined>,
    missing: string,
    about?: JsonObject,
  ): Promise<JsonObject> => {
    let found: JsonObject | undefined;
    try {
      found = await ask();
    } catch (error) {
      throw new sdk.ProtocolError(
        sdk.INTERNAL_ERROR,
        error instanceof Error ? error.message : 'The server did not answer.',
      );
    }
    if (found === undefined) throw refused(missing, about);
    return found;
  };
  if (passed?.prompts === true) {
    list('prompts/list', 'prompts');
    register('prompts/get', ({ name, arguments: args }, { mcpReq }) => {
      if (typeof name !== 'string') throw refused('Expected `name` to be a text.');
      return one(() => passed.prompt(name, args, mcpReq.signal), 'There is no such prompt.');
    });
  }
  if (passedResources === undefined && pages === undefined) return;
  list('resources/list', 'resources');
  list('resources/templates/list', 'resourceTemplates');
  register('resources/read', ({ uri }, ctx) => {
    if (typeof uri !== 'string') throw refused('Expected `uri` to be a text.');
    return one(
      async () =>
        (await pages?.read(uri, ctx)) ?? passedResources?.resource(uri, ctx.mcpReq.signal),
      'There is no such resource.',
      { uri },
    );
  });
}

/**
 * Tells the client about changes. The returned function ends that.
 * @param hears whether the client may hear of them yet
 */
export function notifyPassedOn(
  server: Server,
  passed: PassedOn,
  hasListener: () => boolean,
): () => void {
  return passed.onChanged((kind) => {
    if (server.transport === undefined || !hasListener()) return;
    const told =
      kind === 'prompts' ? server.sendPromptListChanged() : server.sendResourceListChanged();
    told.catch(() => {});
  });
}
