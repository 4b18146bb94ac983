import dataclasses
import enum
import sys
import typing
import unittest

from hone import schema


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


@dataclasses.dataclass
class Place:
    city: str
    zip_code: int = 0


class Weather(typing.TypedDict):
    sky: str
    temp: float


class Schemas(unittest.TestCase):
    def test_types_become_their_schemas(self):
        for hint, wanted in [
            (str, {"type": "string"}), (int, {"type": "integer"}), (float, {"type": "number"}),
            (bool, {"type": "boolean"}), (dict, {"type": "object"}), (list, {"type": "array"}),
            (list[int], {"type": "array", "items": {"type": "integer"}}),
            (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
            (typing.Optional[str], {"type": ["string", "null"]}), (typing.Union[int, str], {"type": ["integer", "string"]}),
            (typing.Optional[list[int]], {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}),
            (typing.Literal["a", "b"], {"enum": ["a", "b"]}), (Size, {"enum": ["s", "l"]}),
            (typing.Annotated[int, "how many", {"minimum": 1}],
             {"type": "integer", "description": "how many", "minimum": 1}),
            (tuple[int, str], {"type": "array", "minItems": 2, "maxItems": 2}),
            (Place, {"type": "object", "properties": {"city": {"type": "string"}, "zip_code": {"type": "integer"}},
                     "required": ["city"]}),
            (Weather, {"type": "object", "properties": {"sky": {"type": "string"}, "temp": {"type": "number"}},
                       "required": ["sky", "temp"]}),
            (object, {}), (typing.Any, {}),
        ]:
            with self.subTest(hint=hint):
                self.assertEqual(schema.of_type(hint), wanted)

    @unittest.skipIf(sys.version_info < (3, 10), "Python 3.10 has this way of writing unions")
    def test_unions_may_be_written_with_a_bar(self):
        self.assertEqual(schema.of_type(int | str), schema.of_type(typing.Union[int, str]))
        self.assertEqual(schema.to_python(Size | None, "s"), Size.SMALL)

    def test_a_function_is_described_by_its_signature_and_docstring(self):
        def stock(item: str, shop: str = "main", most: typing.Optional[int] = None):
            """How many pieces
            of an item a shop has.

            item: the item's name,
                as the shop writes it
            :param shop: which shop

            Not part of any of it.
            """

        self.assertEqual(schema.about(stock), "How many pieces of an item a shop has.")
        parameters, _ = schema.of_function(stock)
        self.assertEqual(parameters, {
            "type": "object",
            "properties": {
                "item": {"type": "string", "description": "the item's name, as the shop writes it"},
                "shop": {"type": "string", "description": "which shop", "default": "main"},
                "most": {"type": ["integer", "null"]}},
            "required": ["item"], "additionalProperties": False})

    def test_google_docstrings_are_read(self):
        def f(a: int, b: int):
            """Adds.

            Args:
                a (int): the first
                b: the second

            Returns:
                the sum
            """

        self.assertEqual(schema.about(f), "Adds.")
        self.assertEqual(schema.parameter_docs(f), {"a": "the first", "b": "the second"})

    def test_what_no_agent_could_call_is_refused(self):
        with self.assertRaisesRegex(schema.Undescribable, "parameter 'words'"):
            schema.of_function(lambda *words: None)
        parameters, _ = schema.of_function(lambda **words: None)
        self.assertTrue(parameters["additionalProperties"])

    def test_values_become_what_the_hints_say(self):
        self.assertEqual(schema.to_python(Size, "l"), Size.LARGE)
        self.assertEqual(schema.to_python(Place, {"city": "Oslo"}), Place("Oslo"))
        self.assertEqual(schema.to_python(list[Place], [{"city": "Oslo"}]), [Place("Oslo")])
        self.assertEqual(schema.to_python(typing.Optional[Size], "s"), Size.SMALL)
        self.assertIsNone(schema.to_python(typing.Optional[Size], None))
        self.assertEqual(schema.to_python(None, 3), 3)


if __name__ == "__main__":
    unittest.main()
