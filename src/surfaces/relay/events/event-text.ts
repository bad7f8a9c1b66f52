/** Events as JSON. */
import type { JsonObject } from '../../../index.ts';
import type { StreamEvent } from './ports.ts';

/** Texts of data that many connections are sent. */
const texts = new WeakMap<JsonObject, string>();

/** The JSON of an event's data. For a change of tools, which is shared, it is written once. */
export function dataText({ event, data }: StreamEvent): string {
  if (event !== 'tool-availability-update') return JSON.stringify(data);
  const known = texts.get(data);
  if (known !== undefined) return known;
  const text = JSON.stringify(data);
  texts.set(data, text);
  return text;
}

/** The JSON of `{ event, id, data }`. */
export function eventText(one: StreamEvent): string {
  const id = one.id === undefined ? '' : `,"id":${one.id}`;
  return `{"event":${JSON.stringify(one.event)}${id},"data":${dataText(one)}}`;
}
