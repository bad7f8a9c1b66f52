/** Origins as a part of a registry: where values of inputs came from, and rules about it. */

import type { OriginOptions } from '../../api/origins.ts';
import type { ToolGates } from '../../core/call/ports.ts';
import type { Judge } from '../../core/call/tally.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import {
  anything,
  type OptionValues,
  object,
  readOptions,
  type TableOf,
  wholeNumber,
} from '../../values/options/index.ts';
import { nameOf } from '../../values/text/names.ts';
import {
  beginOrigins,
  followOrigins,
  isTestedIn,
  ownMaxChars,
  testsOrigins,
  usesOrigins,
} from './follow-origins.ts';
import { compileOrigin, compileOrigins } from './origin-test.ts';
import { overheard, rememberSeen } from './overhear.ts';
import { isLabelled } from './profile-labels.ts';
import { provenance } from './provenance.ts';
import { notes, question } from './question.ts';
import { observeChild } from './remember.ts';
import { originOf, originsInExplanation, said } from './report-texts.ts';
import {
  ofProfile,
  ofRegistry,
  ofSession,
  originsPort,
  type RegistryOrigins,
} from './session-port.ts';
import { labelsIn, profileTools } from './tool-labels.ts';

const options = { origins: anything<OriginOptions>() };

/**
 * The part that traces values to the texts that a session has seen: `origins` and `origin` in
 * rules, the option `origins` of registries and sessions, `origins` and `roles` of tools in
 * profiles, `session.said` and `session.originOf`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { origins } from 'host-tools/origins';
 *
 * const registry = new HostToolRegistry({
 *   parts: [origins()],
 *   rules: [{ effect: 'ask', tools: 'send_*', origins: ['untrusted', 'unknown'] }],
 * });
 * ```
 */
export function origins(): Part {
  return part;
}

const part = definePart({
  name: 'origins',
  options: {
    registry: options,
    session: options,
    profileTool: { origins: object(), roles: object() },
  },
  ruleKeys: { origins: compileOrigins },
  tests: { origin: compileOrigin },
  install(ports, registry, given) {
    const { maxChars } = readOriginOptions(given.origins as OriginOptions, 'HostToolRegistry');
    const own: RegistryOrigins = { maxChars, isLabelled: false, isTested: false, epoch: -1 };
    ofRegistry.set(registry, own);
    originsPort.set(registry, {
      isTestedIn,
      remembers: (session) => followOrigins(session) !== undefined,
      heard: overheard,
      seen: rememberSeen,
      approved: (session, value, by) => followOrigins(session)?.approved(value, by),
    });
    ports.sessions.options.push((setup, { origins: added }, where) => {
      if (added === undefined) return;
      const { maxChars: most } = readOriginOptions(added as OriginOptions, where);
      if (most !== undefined) ownMaxChars.set(setup, most);
    });
    ports.profiles.tools.push(profileTools);
    ports.profiles.options.push((profile) => {
      const tools = [...profile.tools.values()];
      if (profile.rules.some(testsOrigins) || tools.some(labelsIn)) ofProfile.set(profile, true);
    });
    ports.tools.definitions.push((definition, session) => {
      if (!isLabelled(definition)) return;
      if (session === undefined) own.isLabelled = true;
      else beginOrigins(session);
    });
    ports.tools.gates.push((session) => (usesOrigins(session) ? remembering : undefined));
    ports.calls.first.push(({ status: { registryRules, sessionRules } }) =>
      [...registryRules, ...sessionRules].some(testsOrigins) ? [textsSettled] : none,
    );
    ports.calls.children.push(observeChild);
    ports.calls.question = question;
    ports.calls.notes = notes;
    ports.calls.provenance = provenance;
    ports.explained.push(originsInExplanation);
    ports.sessions.methods.set('said', said);
    ports.sessions.methods.set('originOf', (session, tool: unknown, input: unknown) =>
      originOf(session, nameOf(tool), input),
    );
  },
});

const none: readonly never[] = Object.freeze([]);

const remembering: ToolGates = { bound: beginOrigins };

/** Rules about origins wait for texts that are too long to be remembered at once. */
const textsSettled: Judge = ({ session }) => ofSession.of(session)?.settled;

const table = { maxChars: wholeNumber(1) } satisfies TableOf<OriginOptions>;

type ReadOriginOptions = OptionValues<typeof table>;

/** @throws MisuseError `invalid_option`, which names the option. */
function readOriginOptions(options: OriginOptions | undefined, where: string): ReadOriginOptions {
  return readOptions(where, options, table, { path: 'origins' });
}
