/** The families of the relay's measurements, in the order of the table. */
export const relayFamilies = [
  'trips',
  'operations',
  'requests',
  'ways',
  'creating',
  'memory',
  'streams',
  'updates',
  'floods',
  'sizing',
] as const;

export type RelayFamily = (typeof relayFamilies)[number];
