/** What becomes of a type on its way through JSON. */

/**
 * `Value` as JSON gives it back, which is what `step` and `once` return: a `Date` is its text, what
 * is nothing is `null`, and methods are gone.
 */
export type Jsonify<Value> = unknown extends Value ? Value : Written<Value>;

type Written<Value> = Value extends { toJSON(...of: never[]): infer Told }
  ? Jsonify<Told>
  : Value extends Scalar
    ? Value
    : Value extends Nothing
      ? null
      : Value extends Unwritten
        ? never
        : Value extends readonly unknown[]
          ? { [Place in keyof Value]: Jsonify<Value[Place]> }
          : { [Name in keyof Value as Named<Name, Value[Name]>]: Member<Value[Name]> };

type Scalar = string | number | boolean | bigint | null;
// biome-ignore lint/suspicious/noConfusingVoidType: a function without `return` returns it
type Nothing = undefined | void;
type Unwritten = symbol | ((...of: never[]) => unknown);
/** The name of a member that is written. */
type Named<Name, Value> = Name extends symbol ? never : Value extends Unwritten ? never : Name;
/** A member that may be left out is left out. */
type Member<Value> = Jsonify<Exclude<Value, undefined>> | Extract<Value, undefined>;
