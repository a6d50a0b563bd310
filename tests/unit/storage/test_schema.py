"""Which types hold one another."""

import pytest
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

from lakehouse.storage.schema import fits


def struct(first_id: int, **fields: IcebergType) -> StructType:
    return StructType(
        *(NestedField(first_id + i, name, kind) for i, (name, kind) in enumerate(fields.items()))
    )


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (IntegerType(), LongType()),
        (FloatType(), DoubleType()),
        (DecimalType(5, 2), DecimalType(9, 2)),
        (ListType(1, IntegerType()), ListType(9, LongType())),
        (MapType(1, StringType(), 2, IntegerType()), MapType(8, StringType(), 9, LongType())),
        (struct(1, a=IntegerType()), struct(7, a=LongType(), b=StringType())),
    ],
)
def test_a_type_fits_the_wider_one_and_not_the_other_way(narrow: IcebergType, wide: IcebergType) -> None:
    assert fits(narrow, wide)
    assert not fits(wide, narrow)
    assert fits(narrow, narrow)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (LongType(), DoubleType()),
        (IntegerType(), StringType()),
        (DecimalType(5, 2), DecimalType(9, 4)),
        (DateType(), TimestampType()),
        (TimestampType(), TimestamptzType()),
        (ListType(1, IntegerType()), StringType()),
        (struct(1, a=IntegerType()), struct(1, b=IntegerType())),
        (MapType(1, IntegerType(), 2, StringType()), MapType(1, StringType(), 2, StringType())),
    ],
)
def test_types_that_would_lose_something_fit_neither_way(one: IcebergType, other: IcebergType) -> None:
    assert not fits(one, other)
    assert not fits(other, one)


def test_field_ids_do_not_matter() -> None:
    assert fits(struct(1, a=IntegerType()), struct(50, a=IntegerType()))
