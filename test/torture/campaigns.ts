/** Sizes of a campaign: inside `npm test`, in an hour of all campaigns, and in a night. */
export type Sizes = Readonly<{ quick: number; hour: number; night: number }>
export type Tier = keyof Sizes

/** A test of faults, hostility or endurance whose size and seed are set from outside. */
export type CampaignRow = Readonly<{
  /** Test file that runs it. */
  file: string
  /** The promise that it tries to break. */
  promise: string
  /** Unit of its sizes. */
  unit: string
  sizes: Sizes
  /** Seed inside `npm test`, so that each commit runs the same. */
  seed: string
}>

/** All campaigns, in the order in which `npm run torture` runs them. Each name is printed, and is a value of `--only`. */
export const CAMPAIGNS: Readonly<Record<string, CampaignRow>> = {
  'kill-publishing': {
    file: 'test/crash/crash.test.ts',
    promise:
      'A service killed at any moment keeps what it acknowledged, and a retry of the rest doubles nothing',
    unit: 'kills',
    sizes: { quick: 8, hour: 100, night: 2_000 },
    seed: 'kill -9 during publishing',
  },
  'stream-resumes': {
    file: 'test/torture/stream/stream-resumes.test.ts',
    promise:
      'A stream resumed anywhere, with any filter, while events are published, misses and repeats nothing',
    unit: 'resumes',
    sizes: { quick: 300, hour: 3_000, night: 10_000 },
    seed: 'resumes from anywhere',
  },
  'stream-cycles': {
    file: 'test/torture/stream/stream-cycles.test.ts',
    promise: 'Streams that end in any way leave no handle, timer, memory or count of an address behind',
    unit: 'connections',
    sizes: { quick: 1_000, hour: 20_000, night: 100_000 },
    seed: 'connections that come and go',
  },
  pages: {
    file: 'test/web/web-browser.test.ts',
    promise: 'Each page runs under its policy and is accessible, light and dark, wide and narrow',
    unit: 'addresses of each page',
    sizes: { quick: 1, hour: 2, night: 20 },
    seed: 'no chance',
  },
  'generated-requests': {
    file: 'test/torture/requests/generated-requests.test.ts',
    promise:
      'Any request that can be made from the OpenAPI document gets a documented answer that fits its schema and repeats nothing',
    unit: 'requests',
    sizes: { quick: 1_500, hour: 15_000, night: 100_000 },
    seed: 'requests of every kind',
  },
  'hostile-parsers': {
    file: 'test/torture/requests/hostile-parsers.test.ts',
    promise:
      'A parser makes of any bytes a value or a named refusal, changes no prototype, and writes what it accepts as it was',
    unit: 'inputs',
    sizes: { quick: 6_000, hour: 100_000, night: 1_000_000 },
    seed: 'damaged bytes',
  },
}
