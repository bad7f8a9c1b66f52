/** Converts events to JSON. */
import type { JsonObject } from '../../../core.ts';
import { wireText } from '../../../values/json/index.ts';
import type { StreamEvent } from './ports.ts';

/** The JSON of data that is sent to many connections. */
const texts = new WeakMap<JsonObject, string>();

/**
 * Makes the JSON of an event's data. Many connections may be sent the same change of tools, so its
 * JSON is made only once.
 */
export function dataText({ event, data }: StreamEvent): string {
  if (event !== 'tool-availability-update') return wireText(data);
  const known = texts.get(data);
  if (known !== undefined) return known;
  const text = wireText(data);
  texts.set(data, text);
  return text;
}

/** Makes the JSON of `{ event, id, data }`. */
export function eventText(one: StreamEvent): string {
  const id = one.id === undefined ? '' : `,"id":${one.id}`;
  return `{"event":${JSON.stringify(one.event)}${id},"data":${dataText(one)}}`;
}
