/** What a call knows about its request. */
import type { ServerContext } from '@modelcontextprotocol/server';

/** The part of a request's context that a call uses. */
export interface CallContext {
  readonly mcpReq: Pick<
    ServerContext['mcpReq'],
    'id' | '_meta' | 'signal' | 'requestState' | 'inputResponses' | 'envelope' | 'notify' | 'send'
  >;
}
