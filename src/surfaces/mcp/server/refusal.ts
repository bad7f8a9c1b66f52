/** Answers that refuse a request. */
import { type RpcId, rpcError } from './rpc.ts';

/** Answers with a JSON-RPC error under an HTTP status. */
export function refusal(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  id: RpcId | null = null,
): Response {
  return Response.json(rpcError(code, message, id), { status, headers });
}
