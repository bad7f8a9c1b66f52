/** Who makes the calls of a session, as records say it. */

import type { Actor, DelegatedAgent } from '../../api/delegation.ts';
import { checkOption, text, wrongOption } from '../../values/options/index.ts';

/** The chain of a session that a host has created. */
export const noAgents: readonly DelegatedAgent[] = Object.freeze([]);

type Labels = NonNullable<Actor['labels']>;

/** The actor of a session. It is made once, and all records share it. */
export function actorOf(
  principal: string | undefined,
  chain: readonly DelegatedAgent[],
  labels: Labels | undefined,
): Actor {
  const actor = { principal: principal ?? '', chain };
  return Object.freeze(labels === undefined ? actor : { ...actor, labels });
}

/** The actor for a record that has the principal already; undefined if there is no more to say. */
export function toldActor(actor: Actor): Actor | undefined {
  return actor.chain.length === 0 && actor.labels === undefined ? undefined : actor;
}

const maxLabels = 16;
const labelName = /^[A-Za-z0-9_.-]{1,64}$/;

/** @throws MisuseError `invalid_option`. */
export function readLabels(given: unknown): Labels | undefined {
  const where = 'createSession';
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrongOption(where, 'labels', 'an object of texts', given);
  const labels = Object.entries(given);
  if (labels.length > maxLabels)
    throw wrongOption(where, 'labels', `an object of at most ${maxLabels} texts`, labels.length);
  for (const [name, value] of labels) {
    if (!labelName.test(name) || name === '__proto__')
      throw wrongOption(
        where,
        'labels',
        'an object with names of 1 to 64 characters from `A-Z a-z 0-9 _ . -`',
        name,
      );
    checkOption(where, `labels.${name}`, value, text(0, 256));
  }
  return labels.length === 0 ? undefined : Object.freeze(Object.fromEntries(labels));
}
