interface Words {
  message: string;
  help: string;
}

const BLANK = "Indent with blanks, the keys of one map in the same column.";

/** What the YAML parser's findings mean, by its error code, in words for the author of the text. */
const WORDS: { readonly [code: string]: Words } = {
  BAD_DIRECTIVE: { message: "This directive is not known.", help: "Remove the line that begins with %." },
  BAD_DQ_ESCAPE: {
    message: "This escape is not known in a text in double quotes.",
    help: "Write a backslash as \\\\, or use single quotes, in which it is an ordinary character.",
  },
  BAD_INDENT: { message: "The indentation of this line fits nothing above it.", help: BLANK },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "A map or list cannot begin behind a key on the same line.",
    help: "Put it on the next line, indented, or put the value in quotes if it is a text.",
  },
  BLOCK_IN_FLOW: {
    message: "Inside { } and [ ] a map or list is written in brackets, too.",
    help: "Use { } and [ ] inside, or write the outer one on lines of its own.",
  },
  KEY_OVER_1024_CHARS: { message: "A key is at most 1024 characters long.", help: "" },
  MULTILINE_IMPLICIT_KEY: {
    message: "A text that began on a line above runs into a key here.",
    help: "Give this line the indentation of its map, or put a text that holds a colon in quotes.",
  },
  NON_STRING_KEY: { message: "A key must be a text.", help: "Put the key in quotes." },
  TAB_AS_INDENT: { message: "A tab cannot indent a line.", help: BLANK },
  RESOURCE_EXHAUSTION: { message: "The text nests too deeply here.", help: "" },
};

/** Words for one finding of the YAML parser at `at`; `original` is its own message. */
export function explainSyntax(code: string, original: string, text: string, at: number): Words {
  if (/must end with|end with a [\]}]/.test(original)) {
    return { message: "A bracket is not closed.", help: "Close every { with } and every [ with ]." };
  }
  const known = WORDS[code];
  if (known) return known;
  const char = text[at] ?? "";
  if (code === "BAD_SCALAR_START") {
    return { message: `A text cannot begin with ${char} without quotes.`, help: "Put the value in quotes." };
  }
  if (code === "MISSING_CHAR") return missing(original);
  if (/end of (?:the )?(?:flow|document)/i.test(original)) {
    return { message: "A bracket is not closed.", help: "Close every { with } and every [ with ]." };
  }
  return {
    message:
      char === "" || /\s/.test(char) ? "This is no YAML." : `There is no place for ${JSON.stringify(char)} here.`,
    help: "If it belongs to a text, put the whole value in quotes.",
  };
}

function missing(original: string): Words {
  const wanted = /Missing ((?:closing )?\S+?)(?: or \S+)?(?: |$)/.exec(original)?.[1] ?? "";
  if (/quote/i.test(original))
    return { message: "A quote is not closed.", help: "Close the text with the quote it began with." };
  if (/Implicit map keys/i.test(original)) {
    return { message: "A key needs a colon and a blank behind it.", help: "Write `key: value`." };
  }
  if (/flow (?:map|sequence) items/.test(original)) {
    return { message: "A comma is missing between two entries.", help: "Put a text that holds such signs in quotes." };
  }
  if (/Missing space after/.test(original)) {
    return { message: "A blank is missing behind the colon.", help: "Write `key: value`." };
  }
  if (/Comments must be separated/.test(original)) {
    return {
      message: "A comment needs a blank in front of its #.",
      help: "Put the value in quotes if # belongs to it.",
    };
  }
  if (/Block scalars/.test(original)) {
    return { message: "The first lines of this block are indented further than its text.", help: BLANK };
  }
  return { message: `Something is missing here${wanted === "" ? "" : `: ${wanted}`}.`, help: "" };
}
