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

// Limits how much may wait for a client that reads slowly, and waits until the client has read.

/**
 * The most bytes that may wait for a client, in addition to those that its connection has taken. A
 * single larger event passes when nothing else waits.
 */
export const bufferBytes = 1_048_576;

/** Waiting bytes below which a sender with many events continues. */
export const roomyBytes = bufferBytes / 2;

/**
 * Milliseconds after which a sender stops waiting. It then sends the next event, and a client that
 * does not read is dropped.
 */
const patienceMs = 5_000;

/** Why a stream was dropped. */
export const tooSlow = 'The client reads too slowly: more than 1 MB was waiting for it.';

/** A wait that ends with `release`, or after five seconds. */
export interface Backpressure {
  wait(): Promise<void>;
  release(): void;
}

export function createBackpressure(): Backpressure {
  let waiting: Promise<void> | undefined;
  let release = (): void => {};
  return {
    wait() {
      waiting ??= new Promise((resolve) => {
        const timer = setTimeout(() => release(), patienceMs);
        release = () => {
          clearTimeout(timer);
          waiting = undefined;
          release = () => {};
          resolve();
        };
      });
      return waiting;
    },
    release: () => release(),
  };
}
