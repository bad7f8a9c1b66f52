/** The usual spellings of a date, and the forms of dates and times. */

const months = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
] as const;
const month = '([a-z]{3,9})\\.?';
const day = '(\\d{1,2})(?:st|nd|rd|th)?';

/** Each shape with the places of year, month and day in it. */
const shapes: readonly (readonly [shape: RegExp, year: number, month: number, day: number])[] = [
  [/^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/, 1, 2, 3],
  [new RegExp(`^${month} ${day},? (\\d{4})$`), 3, 1, 2],
  [new RegExp(`^${day} (?:of )?${month},? (\\d{4})$`), 3, 2, 1],
  [/^(\d{1,2})[./](\d{1,2})[./](\d{4})$/, 3, 2, 1],
  [/^(\d{1,2})\/(\d{1,2})\/(\d{4})$/, 3, 1, 2],
];

/**
 * `may 15, 2024` for `2024-05-15`, and the reverse; empty if the value is not a date. `05/06/2024`
 * may be two different days, so it is not a spelling of either.
 */
export function dateSpellings(value: string): string[] {
  if (value.length > 30) return [];
  for (const [shape, yearAt, monthAt, dayAt] of shapes) {
    const found = shape.exec(value);
    if (found === null) continue;
    const date = dateOf(found[yearAt] as string, found[monthAt] as string, found[dayAt] as string);
    if (date !== undefined && !(value.includes('/') && yearAt === 3 && isAmbiguous(date)))
      return spell(date);
  }
  return [];
}

interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

function dateOf(year: string, monthText: string, dayText: string): CalendarDate | undefined {
  const found = /^\d/.test(monthText)
    ? Number(monthText)
    : months.findIndex(
        (name) =>
          name === monthText ||
          name.slice(0, 3) === monthText ||
          (name === 'september' && monthText === 'sept'),
      ) + 1;
  const dayOfMonth = Number(dayText);
  if (found < 1 || found > 12 || dayOfMonth < 1 || dayOfMonth > 31) return undefined;
  return { year: Number(year), month: found, day: dayOfMonth };
}

function isAmbiguous({ month: number, day: ofMonth }: CalendarDate): boolean {
  return number <= 12 && ofMonth <= 12 && number !== ofMonth;
}

function spell(date: CalendarDate): string[] {
  const { year, day: number } = date;
  const name = months[date.month - 1] as string;
  const short = name.slice(0, 3);
  const [mm, dd] = [pad(date.month), pad(number)];
  const nth = `${number}${ordinal(number)}`;
  const spellings = [
    `${year}-${mm}-${dd}`,
    `${year}/${mm}/${dd}`,
    `${year}${mm}${dd}`,
    `${dd}.${mm}.${year}`,
    `${number}.${date.month}.${year}`,
  ];
  for (const word of new Set([
    name,
    short,
    `${short}.`,
    ...(short === 'sep' ? ['sept', 'sept.'] : []),
  ]))
    for (const at of new Set([String(number), dd, nth]))
      spellings.push(
        `${word} ${at}, ${year}`,
        `${word} ${at} ${year}`,
        `${at} ${word} ${year}`,
        `${at} of ${word} ${year}`,
        `${at} ${word}, ${year}`,
      );
  if (!isAmbiguous(date)) spellings.push(`${mm}/${dd}/${year}`, `${dd}/${mm}/${year}`);
  return spellings;
}

function pad(number: number): string {
  return String(number).padStart(2, '0');
}

function ordinal(number: number): string {
  if (number >= 11 && number <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][number % 10] ?? 'th';
}

const isoDay = String.raw`\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`;
const clock = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?[ap]m)?`;
const zone = String.raw`(?: ?(?:z|utc|[+-]\d{2}:?\d{2}))?`;
const moment = new RegExp(`^(?:${isoDay}(?:[t ]${clock}${zone})?|${clock}${zone})$`, 'i');

const duration = /^p(?=[\dt])(?:\d+[ymwd])*(?:t(?:\d+(?:\.\d+)?[hms])+)?$/i;

/** Whether a text consists of a date, a time of day, both, or an ISO 8601 duration. */
export function isMoment(text: string): boolean {
  const plain = text.trim();
  if (plain.length > 40) return false;
  return (
    moment.test(plain) || duration.test(plain) || dateSpellings(plain.toLowerCase()).length > 0
  );
}
