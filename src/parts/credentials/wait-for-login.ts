/** A call whose principal has to log in first: it waits for that, if it can. */

import type { AwaitedLogin } from '../../api/approval.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { Next } from '../../core/call/step.ts';
import { makeVerdict, type Verdict } from '../../core/rules/verdict.ts';
import type { Login } from './answer.ts';
import { loginAwaited, loginNeeded } from './refusals.ts';

/** Suspends the call, or refuses it where nothing could go on with it. */
export async function waitForLogin(call: FoundCall, name: string, login: Login): Promise<Next> {
  const { answers } = call.session.registry.ports.calls;
  if (answers?.maySuspend(call) !== true) return loginNeeded(name, login);
  const before = call.verdict as Verdict;
  call.verdict = makeVerdict('ask', {
    ...before,
    source: before.source ?? 'credentials',
    prompt: {
      title: `Waits for a login to \`${name}\``,
      message: 'The person for whom the session acts has to log in. Nobody else should.',
    },
    details: { ...before.details, login: [awaited(call, name, login)] },
  });
  const outcome = await answers.suspend(call);
  call.verdict = before;
  return outcome !== undefined && 'code' in outcome && outcome.code === 'approval_pending'
    ? loginAwaited(name, login)
    : outcome;
}

function awaited(call: FoundCall, credential: string, { url, state }: Login): AwaitedLogin {
  const { approved, extra } = call;
  return Object.freeze({
    credential,
    url,
    ...(state === undefined ? {} : { state }),
    // A standing grant is asked again. An answer for this call alone would be lost.
    ...(approved && extra?.approval?.grant === undefined
      ? { approvedBy: extra?.question?.by ?? '' }
      : {}),
  });
}
