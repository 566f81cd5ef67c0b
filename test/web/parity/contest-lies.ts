import { changedAt, type Lie } from './page-changes.ts'

/** Ways to falsify the page of a contest. */
export const CONTEST_LIES: readonly Lie[] = [
  {
    name: 'a verdict that all is paid',
    pagesLeast: 2,
    of: (page) =>
      [
        'All paid',
        '<span data-expr="all-paid /prizes/*/notRedeemed /prizes/*/expired">All paid</span>',
        'Nothing is left to pay',
        '<span data-expr="none-open /prizes/*/notRedeemed">Nothing is left to pay</span>',
      ]
        .map((say) => page.replace(/(<p class="say">)[^]*?(?=<\/p>)/, `$1${say}`))
        .filter((lie) => lie !== page),
  },
  {
    name: 'a verdict with another share',
    pagesLeast: 5,
    of: (page) =>
      changedAt(page, /(data-expr="share [^"]*">)[^<]*/g, ([whole = '', open]) =>
        whole.endsWith('Nothing') ? `${open}Less than 1%` : `${open}Nothing`,
      ),
  },
  {
    name: 'a part of a bar with the word of another',
    pagesLeast: 1,
    of: (page) =>
      changedAt(page, /(<li class="k [^>]*>\s*)<span data-state="([^"]*)">[^<]*/g, ([, open, state]) =>
        state === 'locked'
          ? `${open}<span data-state="payable">Payable`
          : `${open}<span data-state="locked">Locked`,
      ),
  },
  {
    name: 'a sentence that gives another reason',
    pagesLeast: 1,
    of: (page) =>
      changedAt(
        page,
        /<span data-state="(?:payable|awaiting_claim)">(?:Can be paid now|To be claimed)(?=<\/span\s*>:)/g,
        () => '<span data-state="in_review">In review',
      ),
  },
  {
    name: 'a line that waits less, or twice',
    pagesLeast: 4,
    of: (page) => [
      ...changedAt(page, /<li\b[^>]*data-row[^]*?<\/li>/g, () => ''),
      ...changedAt(page, /<li\b[^>]*data-row[^]*?<\/li>/g, ([line]) => `${line}${line}`),
    ],
  },
  {
    name: 'another time between two moments',
    pagesLeast: 1,
    of: (page) => changedAt(page, /(data-expr="span [^"]*">)[^<]*/g, ([, open]) => `${open}1 d 1 h`),
  },
  {
    name: 'another transaction, or a button that copies another',
    pagesLeast: 1,
    of: (page) => [
      ...changedAt(page, /(<span class="tx"[^]*?<a [^>]*>)[^<]*/g, ([, open]) => `${open}abcd…efgh`),
      ...changedAt(page, /(<span class="tx"[^]*?data-copy=")[^"]*/g, ([, open]) => `${open}abcdefgh`),
      ...changedAt(page, /(<span class="tx"[^]*?href=")[^"]*/g, ([, open]) => `${open}/tx/abcdefgh`),
    ],
  },
]
