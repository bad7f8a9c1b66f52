/** Answers requests about the prompts and resources that a gateway passes on. */
import type { Server, ServerCapabilities, ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../core.ts';
import type { PassedList, PassedOn } from '../passed-on.ts';
import type { Sdk } from './sdk.ts';

type Params = Readonly<Record<string, unknown>>;
type Handle = (params: Params, ctx: ServerContext) => Promise<JsonObject>;

/** What a server declares: always tools and logging, and what is passed on. */
export function capabilitiesWith(passed: PassedOn | undefined): ServerCapabilities {
  const capabilities: ServerCapabilities = { tools: { listChanged: true }, logging: {} };
  if (passed?.prompts === true) capabilities.prompts = { listChanged: true };
  if (passed?.resources === true) capabilities.resources = { listChanged: true };
  return capabilities;
}

/**
 * Registers the handlers for what is passed on.
 * @param register registers one handler, whose parameters are not checked
 */
export function answerPassedOn(
  sdk: Sdk,
  passed: PassedOn,
  register: (method: string, handle: Handle) => void,
): void {
  const list = (method: string, which: PassedList): void =>
    register(method, async () => ({ [which]: [...(await passed.list(which))] }));
  const refused = (message: string): Error => new sdk.ProtocolError(sdk.INVALID_PARAMS, message);
  const one = async (
    ask: () => Promise<JsonObject | undefined>,
    missing: string,
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
    if (found === undefined) throw refused(missing);
    return found;
  };
  if (passed.prompts) {
    list('prompts/list', 'prompts');
    register('prompts/get', ({ name, arguments: args }, { mcpReq }) => {
      if (typeof name !== 'string') throw refused('Expected `name` to be a text.');
      return one(() => passed.prompt(name, args, mcpReq.signal), 'There is no such prompt.');
    });
  }
  if (!passed.resources) return;
  list('resources/list', 'resources');
  list('resources/templates/list', 'resourceTemplates');
  register('resources/read', ({ uri }, { mcpReq }) => {
    if (typeof uri !== 'string') throw refused('Expected `uri` to be a text.');
    return one(() => passed.resource(uri, mcpReq.signal), 'There is no such resource.');
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
