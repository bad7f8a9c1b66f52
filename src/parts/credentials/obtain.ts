/** Asks for the credentials of a call, when it has been approved and before its handler. */

import type { Credential, CredentialNeed, CredentialResolver } from '../../api/credentials.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { Next, Step } from '../../core/call/step.ts';
import { answerInTime, tooLate } from '../../core/call/with-deadline.ts';
import { Slot } from '../../core/slot.ts';
import type { ReadNeeds } from '../../core/tool/read-needs.ts';
import { heldCredential } from '../../values/credential.ts';
import { errorName, type ToolError } from '../../values/errors/index.ts';
import { isSafe, type Login, type ReadAnswer, readAnswer } from './answer.ts';
import { keepOut } from './cleaning.ts';
import { unavailable } from './refusals.ts';
import { waitForLogin } from './wait-for-login.ts';

/** The call has its credentials. They are not asked for again, even if it waits for more. */
const obtained = new Slot<readonly Credential[]>();

export function obtain(
  call: FoundCall,
  needs: ReadNeeds,
  resolver: CredentialResolver | undefined,
): Step {
  const held = obtained.of(call.more);
  if (held !== undefined) return expiredProblem(call, needs, held);
  return ask(call, needs, resolver);
}

/** Another wait may have taken long. */
function expiredProblem(
  { session }: FoundCall,
  needs: ReadNeeds,
  held: readonly Credential[],
): ToolError | undefined {
  const now = session.registry.now();
  const names = [...needs.keys()];
  const at = held.findIndex(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now);
  return at === -1
    ? undefined
    : unavailable(names[at] as string, 'its token has expired while the call waited');
}

async function ask(
  call: FoundCall,
  needs: ReadNeeds,
  resolver: CredentialResolver | undefined,
): Promise<Next> {
  const controller = new AbortController();
  const asked = [...needs].map(([name, need]) => askOne(call, name, need, resolver, controller));
  const stop = (): void =>
    controller.abort(new DOMException('Nobody waits for the credential any more.', 'AbortError'));
  call.onEnd(stop);
  const { policyTimeoutMs } = call.session.registry.settings;
  const settled = await answerInTime(call, Promise.all(asked), policyTimeoutMs);
  call.offEnd(stop);
  stop();
  if (call.ended) return undefined;
  if (settled === tooLate) return tooSlow(call, [...needs.keys()]);
  const wrong = settled.find((one) => 'code' in one);
  if (wrong !== undefined) return wrong as ToolError;
  const answers = settled as readonly Answered[];
  const login = answers.find((one): one is { login: Login; name: string } => 'login' in one);
  if (login !== undefined) return waitForLogin(call, login.name, login.login);
  take(call, answers as readonly TokenAnswer[]);
  // The call is judged again, and comes back.
  return undefined;
}

type TokenAnswer = { readonly token: string; readonly expiresAt: number | undefined } & {
  readonly name: string;
};
type Answered = Exclude<ReadAnswer, { wrong: string }> & { readonly name: string };

function take(call: FoundCall, answers: readonly TokenAnswer[]): void {
  const held = answers.map(({ name, token, expiresAt }) => {
    keepOut(call, token);
    return [name, heldCredential(token, expiresAt)] as const;
  });
  // Without a prototype, so that a name such as `constructor` is never inherited.
  call.more.credentials = Object.freeze(
    Object.assign(Object.create(null) as object, Object.fromEntries(held)),
  ) as Readonly<Record<string, Credential>>;
  obtained.set(
    call.more,
    held.map(([, credential]) => credential),
  );
}

/** Never rejects, so that nothing of what was thrown is reported elsewhere. */
async function askOne(
  call: FoundCall,
  name: string,
  need: CredentialNeed,
  resolver: CredentialResolver | undefined,
  { signal }: AbortController,
): Promise<Answered | ToolError> {
  const { session, toolName: tool } = call;
  const { registry, principal } = session;
  try {
    if (resolver === undefined) return nobodyGives(call, name);
    const answer = await resolver(
      Object.freeze({
        principal,
        name,
        scopes: need.scopes ?? none,
        audience: need.audience,
        tool,
        signal,
      }),
    );
    const read = readAnswer(answer, registry.now());
    if (!('wrong' in read)) return { ...read, name };
    report(call, name, new Error(`Expected ${read.wrong}.`), 'gave no credential');
    return unavailable(name, 'it could not be read');
  } catch (error) {
    // Its texts may hold a token, which nobody knows yet.
    const safe = isSafe(error)
      ? error
      : new Error(`${nameOf(error)}: the text is left out, since it may hold a token`);
    if (!call.ended) report(call, name, safe as Error, 'threw');
    return unavailable(name, 'it could not be obtained');
  }
}

const none: readonly string[] = Object.freeze([]);

/** A class may have any name. */
function nameOf(error: unknown): string {
  try {
    const name = errorName(error) ?? '';
    return /^[A-Z][A-Za-z]{0,40}Error$/.test(name) ? name : 'Error';
  } catch {
    return 'Error';
  }
}

function nobodyGives(call: FoundCall, name: string): ToolError {
  report(
    call,
    name,
    new Error(
      'The registry has no option `credentials`. Give `new HostToolRegistry({ credentials })` ' +
        'a resolver.',
    ),
    'is missing',
  );
  return unavailable(name, 'the host has nothing that gives it');
}

function tooSlow(call: FoundCall, names: readonly string[]): ToolError {
  const { policyTimeoutMs } = call.session.registry.settings;
  const name = names.join(', ');
  const error = new Error(`It did not answer within ${policyTimeoutMs} ms.`);
  report(call, name, error, 'was too slow');
  return unavailable(name, 'it could not be obtained in time');
}

/** Not `reportFault`: the error is ours, and has no text of the call. */
function report({ session, callId, toolName }: FoundCall, name: string, error: Error, how: string) {
  session.registry.hostFault(
    error,
    { sessionId: session.sessionId, callId, toolName, source: 'credentials', credential: name },
    `what gives the credential ${how}`,
  );
}
