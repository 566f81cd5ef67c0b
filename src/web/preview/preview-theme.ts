/** Colours of link previews: those of `style/tokens.css` and `style/book.css` on light paper; a test compares them. */
export const TONES = {
  paper: '#fbfaf6',
  wash: '#f3f0e8',
  ink: '#17202b',
  soft: '#525b67',
  hair: '#dfdacd',
  rule: '#b5402f',
  go: '#1b6a45',
  wait: '#875100',
  hold: '#44607f',
  still: '#5d6570',
  spent: '#2b62a8',
  paid: '#c65d1e',
  'paid-words': '#a34508',
  payable: '#3f9169',
} as const

export type PreviewTone = keyof typeof TONES
