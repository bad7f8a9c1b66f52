/** What the user has written into a form, and what the form itself offered. */
import type { JsonObject, JsonValue } from '../../values/json/index.ts';
import { spellingsOf } from './spellings.ts';
import { collapsed, looseForm } from './text.ts';

/** A form with what came back. */
export interface FilledForm {
  /** Its schema. */
  readonly form: JsonValue;
  readonly answers: JsonObject;
}

/**
 * The answers to a form that are the user's own words. A default or a choice that the user only
 * accepts comes from the author of the form, which may be a server behind a gateway. So an answer
 * that is the same value as a text of the form is left out, also if a client has trimmed it or
 * written it differently. What a form offers is also taken out of an answer that goes on from it.
 */
export function ownWords({ form, answers }: FilledForm): string[] {
  const texts = scalarsIn(form);
  const known = new Set(texts.flatMap(formsOf));
  const offers = offersIn(form)
    .map(folded)
    .filter((offer) => offer !== '');
  const own: string[] = [];
  for (const answer of scalarsIn(answers))
    if (!formsOf(answer).some((one) => known.has(one))) own.push(without(answer, offers));
  return own;
}

/** Characters that may surround an offer in a longer answer. */
const edge = /^$|[\s,;:()<>"'.]/;

function without(answer: string, offers: readonly string[]): string {
  let text = answer;
  for (const offer of offers) {
    const form = folded(text);
    const pieces = form.split(offer);
    if (pieces.length === 1) continue;
    text = pieces.reduce((left, right) => {
      const isWhole = edge.test(left.slice(-1)) && edge.test(right.slice(0, 1));
      return left + (isWhole ? '\n' : offer) + right;
    });
  }
  return text;
}

/** The ways in which a value is written, without regard to case and white space. */
function formsOf(text: string): string[] {
  const form = folded(text);
  return [form.replace(/\s/g, ''), ...spellingsOf(form).map((spelling) => spelling.text)];
}

/** By way of capitals, since a client may have changed ß to SS. */
function folded(text: string): string {
  return collapsed(looseForm(text.toUpperCase()));
}

function scalarsIn(value: JsonValue): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(scalarsIn);
  return typeof value === 'boolean' ? [] : [String(value)];
}

const offering = new Set(['default', 'const', 'enum', 'examples']);

/** The values that a form offers, as opposed to its descriptions. */
function offersIn(form: JsonValue): string[] {
  if (typeof form !== 'object' || form === null) return [];
  return Object.entries(form).flatMap(([key, value]) =>
    offering.has(key) ? scalarsIn(value) : offersIn(value),
  );
}
