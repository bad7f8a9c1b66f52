/** Data that a part keeps in an object of the core. */

/** What holds data of parts. */
export interface SlotHolder {
  slots: Map<Slot<unknown>, unknown> | undefined;
}

/** A key for the data of one part, typed. */
export class Slot<T> {
  /** Undefined if the holder has none. */
  of({ slots }: Readonly<SlotHolder>): T | undefined {
    return slots?.get(this as Slot<unknown>) as T | undefined;
  }

  set(holder: SlotHolder, value: T): void {
    holder.slots ??= new Map();
    holder.slots.set(this as Slot<unknown>, value);
  }

  delete({ slots }: Readonly<SlotHolder>): void {
    slots?.delete(this as Slot<unknown>);
  }
}
