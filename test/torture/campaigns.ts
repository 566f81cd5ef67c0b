/** Sizes of a campaign: inside `npm run test:all`, in an hour of all campaigns, and in a night. */
type Sizes = Readonly<{ quick: number; hour: number; night: number }>
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
  /** Seed inside `npm run test:all`, so that each commit runs the same. */
  seed: string
}>

/** All campaigns, in the order in which `npm run torture` runs them. Each name is printed, and is a value of `--only`. */
export const CAMPAIGNS: Readonly<Record<string, CampaignRow>> = {
  'torn-log': {
    file: 'test/crash/torn-log.test.ts',
    promise: 'A write-ahead log cut at any byte or with any bit flipped leaves whole commits, in every table',
    unit: 'cuts, and a fifth as many states of a longer log, cut or with a bit flipped',
    sizes: { quick: 100, hour: 5_000, night: 125_000 },
    seed: 'a torn log',
  },
  'flipped-store': {
    file: 'test/tamper/flipped-store.test.ts',
    promise: 'A bit flipped in the store, its high-water mark or its key is never damage in silence',
    unit: 'states of each kind',
    sizes: { quick: 15, hour: 1_000, night: 20_000 },
    seed: 'no silent damage',
  },
  'flipped-files': {
    file: 'test/tamper/flipped-files.test.ts',
    promise:
      'A bit flipped in a file beside the store, or in the state of a witness, is found or changes nothing',
    unit: 'states of each file',
    sizes: { quick: 25, hour: 1_000, night: 20_000 },
    seed: 'flipped beside the store',
  },
  'failing-calls': {
    file: 'test/torture/store/failing-calls.slow.test.ts',
    promise:
      'A service whose k-th call on its files fails acknowledges nothing that it may lose, and starts again',
    unit: 'runs',
    sizes: { quick: 4, hour: 150, night: 3_000 },
    seed: 'a call that fails',
  },
  'stream-resumes': {
    file: 'test/torture/stream/stream-resumes.slow.test.ts',
    promise:
      'A stream resumed anywhere, with any filter, while events are published, misses and repeats nothing',
    unit: 'resumes',
    sizes: { quick: 300, hour: 3_000, night: 10_000 },
    seed: 'resumes from anywhere',
  },
  'stream-cycles': {
    file: 'test/torture/stream/stream-cycles.slow.test.ts',
    promise: 'Streams that end in any way leave no handle, timer, memory or count of an address behind',
    unit: 'connections',
    sizes: { quick: 1_000, hour: 20_000, night: 100_000 },
    seed: 'connections that come and go',
  },
  'stream-storm': {
    file: 'test/torture/stream/stream-storm.slow.test.ts',
    promise:
      'After a storm of reconnects all are back and missed nothing; slow, silent and dead links are freed',
    unit: 'subscribers',
    sizes: { quick: 60, hour: 500, night: 2_000 },
    seed: 'all dropped at once',
  },
  'slow-backfill': {
    file: 'test/torture/stream/slow-backfill.slow.test.ts',
    promise:
      'Slow readers of a long log hold nothing open: the write-ahead log stays small, and commits go on',
    unit: 'commits',
    sizes: { quick: 20, hour: 400, night: 2_000 },
    seed: 'reading slowly from the beginning',
  },
  outbox: {
    file: 'test/outbox/outbox-crash.slow.test.ts',
    promise: 'A row of an outbox becomes one event, in the order of commits, whatever is killed or restored',
    unit: 'kills of the database',
    sizes: { quick: 3, hour: 20, night: 200 },
    seed: 'kill -9 of database and drainer',
  },
  finality: {
    file: 'test/finality/finality-campaign.slow.test.ts',
    promise: 'Each final transaction is published once and no other, although RPC servers fail and one lies',
    unit: 'kills for each of two chains',
    sizes: { quick: 2, hour: 20, night: 120 },
    seed: 'final by the word of the chain',
  },
  soak: {
    file: 'test/torture/together/soak.slow.test.ts',
    promise:
      'Memory, handles, disk per event and delays stay flat under load, faults, upgrades and rotations',
    unit: 'simulated hours of two and a half minutes',
    sizes: { quick: 0, hour: 2, night: 24 },
    seed: 'a busy day',
  },
  'held-model': {
    file: 'test/held/held-model.test.ts',
    promise: 'Drafts are held, published and refused as the model of the specification says',
    unit: 'runs',
    sizes: { quick: 6, hour: 400, night: 6_000 },
    seed: '20261129',
  },
  'review-holds': {
    file: 'test/books/holds.test.ts',
    promise: 'A review hold moves only what is unpaid, however the events are divided into commits',
    unit: 'runs of each property',
    sizes: { quick: 8, hour: 200, night: 2_000 },
    seed: '20261123',
  },
  'log-model': {
    file: 'test/books/model.test.ts',
    promise: 'The log is the same however it is read, across restarts and ends of months',
    unit: 'runs',
    sizes: { quick: 1, hour: 30, night: 300 },
    seed: 'however it is read',
  },
  'cluster-single': {
    file: 'test/torture/history/single-cluster.slow.test.ts',
    promise: 'A node that is killed, paused and cut off loses and repeats nothing, and keeps the order',
    unit: 'faults',
    sizes: { quick: 12, hour: 60, night: 300 },
    seed: 'one node',
  },
  pages: {
    file: 'test/web/web-browser.slow.test.ts',
    promise: 'Each page runs under its policy and is accessible, light and dark, wide and narrow',
    unit: 'addresses of each page',
    sizes: { quick: 1, hour: 2, night: 20 },
    seed: 'no chance',
  },
  'address-leaks': {
    file: 'src/publish/admission/address-leaks.test.ts',
    promise: 'No draft with a wallet address is accepted, in whatever disguise, and no refusal repeats it',
    unit: 'drafts',
    sizes: { quick: 5_000, hour: 20_000, night: 200_000 },
    seed: 'addresses in disguise',
  },
  'raw-requests': {
    file: 'test/torture/requests/raw-requests.slow.test.ts',
    promise: 'Mutated bytes neither break the service nor hang, and get whole answers',
    unit: 'connections',
    sizes: { quick: 600, hour: 6_000, night: 50_000 },
    seed: 'bytes of all kinds',
  },
  'generated-requests': {
    file: 'test/torture/requests/generated-requests.slow.test.ts',
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
    sizes: { quick: 3_000, hour: 100_000, night: 1_000_000 },
    seed: 'damaged bytes',
  },
  'generated-drafts': {
    file: 'test/torture/requests/generated-drafts.test.ts',
    promise:
      'The publish API answers any request as documented, repeats nothing of it, and publishes it whole or not at all',
    unit: 'requests',
    sizes: { quick: 1_000, hour: 20_000, night: 200_000 },
    seed: 'drafts of every kind',
  },
  'allowance-evasion': {
    file: 'test/torture/requests/allowance-evasion.slow.test.ts',
    promise:
      'No caller gets more than its allowance, whatever it sends and however it connects, and none is refused because of another',
    unit: 'requests',
    sizes: { quick: 2_000, hour: 60_000, night: 500_000 },
    seed: 'one request more',
  },
  'power-cuts': {
    file: 'test/torture/store/power-cuts.slow.test.ts',
    promise:
      'A power cut or a kill at any call loses nothing acknowledged and leaves nothing half, the node starts again, and a command that was cut off is finished by a repetition',
    unit: 'states of the disk',
    sizes: { quick: 100, hour: 20_000, night: 200_000 },
    seed: 'the power is cut',
  },
  'clock-steps': {
    file: 'test/torture/store/clock-steps.slow.test.ts',
    promise:
      'A clock that steps by seconds, days or years never reorders events or changes a closed month, and the service says so',
    unit: 'steps',
    sizes: { quick: 3, hour: 40, night: 200 },
    seed: 'clocks that step',
  },
  'two-servers': {
    file: 'test/crash/lock.slow.test.ts',
    promise:
      'Of two servers that start on one directory at the same moment, one serves and the other says why not',
    unit: 'rounds',
    sizes: { quick: 1, hour: 20, night: 100 },
    seed: 'no chance',
  },
  'larger-samples': {
    file: 'test/torture/larger-samples.slow.test.ts',
    promise: 'What holds for the small random samples of `npm test` holds for larger ones',
    unit: 'times the samples of a first size',
    sizes: { quick: 1, hour: 1, night: 10 },
    seed: 'no chance',
  },
}
