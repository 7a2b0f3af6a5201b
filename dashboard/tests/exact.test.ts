/** JSON is shown as it was sent. */
import { expect, test } from "vitest";
import { entries, member, print, read } from "../src/parts/json/exact.ts";

const LONG = '{"a": 12345678901234567890, "b": [1e400, -0, 9007199254740993], "a b": null}';

test("numbers stay as they were sent", () => {
  expect(print(read(LONG))).toBe(
    '{\n  "a": 12345678901234567890,\n' +
      '  "b": [\n    1e400,\n    -0,\n    9007199254740993\n  ],\n  "a b": null\n}',
  );
});

test.each([
  ['{"payload":{"}":"\\"]"},"x":1}', "payload", '{"}":"\\"]"}'],
  ['{ "x" : [1, {"payload": 2}] , "payload" : "\\\\" }', "payload", '"\\\\"'],
  ['{"payload":12345678901234567890}', "payload", "12345678901234567890"],
  ['{"p\\u0061yload":true}', "payload", "true"],
  ["{}", "payload", undefined],
  ['{"x":1}', "payload", undefined],
])("%s has the member %s", (text, name, found) => {
  expect(member(text, name)).toBe(found);
});

test.each([
  ["[]", []],
  ["[ ]", []],
  ['[ 1e400 , {"a": [1, 2]},"],"]', ["1e400", '{"a": [1, 2]}', '"],"']],
])("%s has the entries %j", (text, found) => {
  expect(entries(text)).toEqual(found);
});

test.each(["null", '""', "[]", "{}", '"<img src=x onerror=alert(1)>"', "[[[]],{}]"])(
  "%s is read and printed",
  (text) => {
    expect(JSON.parse(print(read(text)))).toEqual(JSON.parse(text));
  },
);

test("members of one name and odd names are kept", () => {
  expect(print(read('{"__proto__":1,"constructor":{"a":2}}'))).toBe(
    '{\n  "__proto__": 1,\n  "constructor": {\n    "a": 2\n  }\n}',
  );
});
