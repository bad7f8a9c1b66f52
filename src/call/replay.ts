/** Ends a call with the outcome of an earlier one, without running anything. */
import type { FoundCall } from '../state/call.ts';
import type { KeptOutcome } from '../state/claim.ts';
import { collectOutputSecrets, noteReadSecrets } from './call-secrets.ts';
import { endCall, failCall, successResult } from './end-call.ts';
import { lost } from './remember.ts';

export function replay(call: FoundCall, outcome: KeptOutcome): void {
  // The model sees the outcome as if the handler had just settled, so it is remembered in the same
  // way.
  call.state = 'shaping';
  if (outcome.untrusted) call.more.heard = lost;
  if (!outcome.ok) return failCall(call, outcome.error);
  const { output, truncated, handler, alongside } = outcome;
  if (alongside !== undefined) call.more.alongside = alongside;
  collectOutputSecrets(call, output);
  const isCut = truncated !== undefined || alongside?.truncated !== undefined;
  // The secrets of what is no longer there cannot be collected, and the rest may repeat them.
  if (call.binding.secretive && (isCut || alongside?.leftOut !== undefined)) noteReadSecrets(call);
  endCall(call, successResult(call, output, truncated, handler));
}
